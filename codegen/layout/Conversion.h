// codegen/layout/Conversion.h -- a tile from one layout to another by what costs less: inside of warps, or through shared
// memory.
// Here:      the choice. Not here: the plans (WarpConversion.h, SharedConversion.h), the code (emit/ConvertLayout.cpp).
#pragma once
#include "codegen/layout/SharedConversion.h"
#include "codegen/layout/WarpConversion.h"

namespace tiletwin::codegen {

struct Conversion {
  std::optional<WarpConversion> inWarps; ///< if that is the way
  SharedConversion inShared;             ///< else
  unsigned elementBytes = 0;

  /// Bytes of shared memory for one pass.
  uint32_t sharedBytes() const { return (elementBytes << inShared.offsets.dimension()) >> inShared.passBits; }
  uint32_t passes() const { return 1u << inShared.passBits; }

  /// maxBytes: of shared memory.
  static Conversion plan(const LinearLayout& from, const LinearLayout& to, unsigned elementBytes, uint32_t maxBytes);
};

} // namespace tiletwin::codegen
