// sim/isa/Bits.h -- instructions on bits: popc clz bfind fns brev bfe bfi bmsk szext prmt (Bits.cpp); and or xor not cnot lop3
// shl shr shf (Logic.cpp), predicates included.
#pragma once
#include "sim/isa/Decode.h"

namespace tiletwin::sim {

extern const std::span<const OpcodeRow> kBitsOpcodes;  // Bits.cpp
extern const std::span<const OpcodeRow> kLogicOpcodes; // Logic.cpp

} // namespace tiletwin::sim
