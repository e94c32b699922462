// codegen/passes/LoadsAhead.h -- short loads from which a loop computes operands, made an iteration before they are used.
//
// Here:      loads that stay in registers, of loops whose products are small: scales of packed weights, for one.
// Not here:  what is copied to shared memory (LoadsOfOperands.h, Pipeline.h).
//
// Idea: what a copy brings is there when an iteration begins. A load beside it that no copy can make (elements of two bytes,
//       one a thread) would let each iteration wait for memory all the same. Loops that only reduce what they load gain
//       nothing: other warps hide their loads, and registers on the way cost more than that.
// Invariant: nothing is loaded for an iteration that the loop does not have.
#pragma once
#include "codegen/Codegen.h"
#include "ir/TT.h"

namespace tiletwin::codegen {

/// In every loop of at least 2 stages with products of tensor cores that are not warpgroups'.
void loadAhead(tt::FuncOp kernel, const Options& options);

} // namespace tiletwin::codegen
