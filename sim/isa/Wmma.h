// sim/isa/Wmma.h -- wmma.load, wmma.store, wmma.mma: matrices in memory, fragments whose layout is nobody's business.
// Here:      the family's table. The layouts are those of mma (MatrixFragment.h); f16 operands of 16 and 8 rows fill their eight
//            registers by holding elements more than once.
#pragma once
#include "sim/isa/Decode.h"

namespace tiletwin::sim {

extern const std::span<const OpcodeRow> kWmmaOpcodes;

} // namespace tiletwin::sim
