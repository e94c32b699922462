// ir/ValueFlow.h -- the edges on which values become other values without being changed: through loops, conditionals and
// branches.
// Here:      one step, for analyses that go on until nothing changes. Not here: what operations compute.
#pragma once
#include "mlir/IR/Operation.h"

namespace tiletwin::tt {

/// Calls `edge(from, to)` for each value that a control-flow operation hands on: initial and yielded values to block
/// arguments and results, operands of branches to arguments of the blocks they lead to. False, and no call, if `op` is
/// none.
bool forEachValueEdge(mlir::Operation* op, llvm::function_ref<void(mlir::Value from, mlir::Value to)> edge);

} // namespace tiletwin::tt
