// codegen/passes/LoopHints.h -- what tl.range asks of compilers: loop_unroll_factor is done, other hints are said to do nothing.
#pragma once
#include "codegen/Codegen.h"
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Replaces each loop with tt.loop_unroll_factor = n above 1 by one whose rounds are n rounds of it, and a loop of what is
/// left over, which is not pipelined. Rounds keep their order and their values. Tiles have no layouts yet.
void unrollLoops(tt::FuncOp kernel);

/// Warns, at their place, of options and hints that change nothing in the code for this target.
void warnOfHints(tt::FuncOp kernel, const Target& target, const Options& options);

} // namespace tiletwin::codegen
