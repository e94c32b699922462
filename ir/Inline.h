// ir/Inline.h -- inlining, as a function over a module. Its pass is in Passes.cpp.
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace tiletwin::tt {

/// Replaces every call of a function that is not noinline (of any function if `everything`) by its body. Fails with a
/// diagnostic on recursion, and on a callee of several blocks that is called inside a region of one block.
mlir::LogicalResult inlineCalls(mlir::ModuleOp module, bool everything);

} // namespace tiletwin::tt
