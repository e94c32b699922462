// codegen/passes/CopiesAtOnce.h -- operands that a loop of one stage loads, on their way together from where its iteration begins.
//
// Here:      loops of one stage with products of warpgroups. Not here: copies for later iterations (Pipeline.h).
//
// Idea: with one stage each product waits for its own operands: a load, a store to shared memory, a barrier. Copies that begin
//       where the iteration begins are on their way at one time. Loads of few numbers begin there too, other loads in front of
//       the product before them.
// Invariant: nothing is read for another iteration, and nothing passes an operation that may write what is read.
#pragma once
#include "codegen/Codegen.h"
#include "ir/TT.h"

namespace tiletwin::codegen {

/// In every loop of one stage, if as many CTAs as there are registers for have room for all of the kernel's tiles at once.
void copyAtOnce(tt::FuncOp kernel, const Target& target, const Options& options);

} // namespace tiletwin::codegen
