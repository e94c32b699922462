// codegen/passes/LoopEnds.h -- what a loop adds up by the same amount each time, computed behind the loop from its length.
#pragma once
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Pointers and integers that a loop carries, adds something unchanging to, and leaves to another loop that begins with them:
/// what they began with and the sum of all that was added takes their place. Then it can be said of the other loop's pointers
/// what they are made of (AffineForm.h), and no loop that needs no pointers has to carry them.
void replaceLoopEnds(tt::FuncOp kernel);

} // namespace tiletwin::codegen
