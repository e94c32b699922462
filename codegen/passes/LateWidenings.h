// codegen/passes/LateWidenings.h -- numbers that become wider where they are used, not where they were loaded.
//
// Here:      conversions of tiles to a type with more bits, which kernels write right behind their loads.
// Not here:  conversions of layouts (SinkConversions.h), the order of instructions in full blocks (ptx/OrderByUse.h).
//
// Idea: weights that a norm loads in front of its reductions wait there as f16 in half the registers that they take as f32.
//       An assembler moves instructions by some dozens, and none over a barrier.
// Invariant: nothing is computed more often than before, and values stay the same.
#pragma once
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Such conversions stand in front of the first operation of their block that uses them, or that contains such a use, if a
/// reduction, a loop or a branch was in between.
void widenLate(tt::FuncOp kernel);

} // namespace tiletwin::codegen
