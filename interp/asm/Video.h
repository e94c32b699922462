// interp/asm/Video.h -- how a video instruction is to be carried out, packed into a word that its steps read as an
// operand.
#pragma once
#include <cstdint>

namespace tiletwin::interp {

struct VideoControl {
  int parts = 1; ///< 1, 2 or 4 numbers in a register
  bool resultSigned = false, aSigned = false, bSigned = false;
  bool saturates = false;
  bool adds = false; ///< the sum of all parts and of the third operand is the result

  uint32_t word() const {
    return uint32_t(parts) | uint32_t(resultSigned) << 4 | uint32_t(aSigned) << 5 | uint32_t(bSigned) << 6 |
           uint32_t(saturates) << 7 | uint32_t(adds) << 8;
  }
  static VideoControl from(uint32_t w) {
    return {int(w & 15), bool(w >> 4 & 1), bool(w >> 5 & 1), bool(w >> 6 & 1), bool(w >> 7 & 1), bool(w >> 8 & 1)};
  }
};

} // namespace tiletwin::interp
