// sim/isa/AddressOperand.h -- an address operand of an instruction that has several, decoded and read lane by lane.
// Not here:  loads and stores, whose one address lies in Inst::a and Inst::immediate.
#pragma once
#include "sim/isa/Decode.h"
#include "sim/machine/Memory.h"
#include <array>

namespace tiletwin::sim {

using LaneAddresses = std::array<uint64_t, kLanes>;

struct AddressOperand {
  Slot base;
  bool isWide = true;
  int64_t offset = 0;
  Space space = Space::None; ///< as the instruction says, or of the variable that the operand names

  bool decode(Decoder& decoder, const ptx::Operand& operand, Space named) {
    Decoder::Address address;
    if (!decoder.address(operand, address)) return false;
    base = address.base;
    isWide = address.bytes == 8;
    offset = address.offset;
    space = named != Space::None ? named : address.space;
    return true;
  }
  LaneAddresses lanes(Warp& warp) const {
    LaneAddresses result;
    laneAddresses(warp, base, isWide, offset, result.data());
    return result;
  }
};

} // namespace tiletwin::sim
