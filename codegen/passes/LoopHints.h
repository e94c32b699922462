// codegen/passes/LoopHints.h -- what tl.range asks of compilers: loop_unroll_factor is done, other hints are said to do nothing.
#pragma once
#include "codegen/Codegen.h"
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Replaces each loop with tt.loop_unroll_factor = n above 1 by one that does n of its rounds in each round, and a
/// second loop, which is not pipelined, for the rounds that are left. They keep their order and their values. Tiles
/// have no layouts yet.
void unrollLoops(tt::FuncOp kernel);

/// Warns, at their place, of hints that change nothing in the code. (Producer.h and Pairs.h do so of their own.)
void warnOfHints(tt::FuncOp kernel, const Target& target);

} // namespace tiletwin::codegen
