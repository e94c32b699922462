// codegen/passes/ThreadReductions.h -- reductions that a loop adds up: in each thread first, between threads after the loop.
#pragma once
#include "ir/TT.h"

namespace tiletwin::codegen {

/// The operation that a reduction's region is, if it is one commutative operation of arith on its two arguments; else null.
mlir::Operation* commutativeOperation(tt::ReduceOp reduce);

/// Where a loop carries nothing of a reduction but what it is combined into by the same operation, as in
/// `total += tl.sum(x, 1)`, every thread combines the elements that it holds, and the loop carries a tile of one element
/// for each thread along the axis. One reduction behind the loop does the rest. Tiles have layouts, and keep them.
void reduceInThreads(tt::FuncOp kernel);

} // namespace tiletwin::codegen
