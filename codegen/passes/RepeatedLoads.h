// codegen/passes/RepeatedLoads.h -- loads that read each element several times, as loads that read it once.
//
// Here:      loads of loops from which operands of products are computed, whose pointers are equal in whole groups of
//            neighbours: packed weights, eight of which come from one word, or scales that many rows share.
// Not here:  what is known of pointers (ir/Contiguity.h), copies of the loads that remain (LoadsOfOperands.h).
//
// Idea: pointers `base + (k // 8) * stride` are the same for eight neighbours along k. The tile with every eighth pointer is
//       computed as the kernel computes the whole one, from ranges with every eighth number; what it loads is repeated. A
//       loop that carries the pointers carries the small tile's beside them.
// Invariant: each element of the result is what the kernel's own load gives.
#pragma once
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Before tiles have layouts.
void loadRepeatedOnce(tt::FuncOp kernel);

} // namespace tiletwin::codegen
