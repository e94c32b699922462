// ir/Inline.h -- inlining, as a function over a module. Its pass is in Passes.cpp.
#pragma once
#include "ir/TT.h"
#include "mlir/IR/BuiltinOps.h"

namespace tiletwin::tt {

/// Replaces every call of a function that is not noinline (of any function if `everything`) by its body. Fails with a
/// diagnostic on recursion, and on a callee of several blocks that is called inside a region of one block.
mlir::LogicalResult inlineCalls(mlir::ModuleOp module, bool everything);
/// The same for the calls that `wanted` picks; all others stay.
mlir::LogicalResult inlineSomeCalls(mlir::ModuleOp module, llvm::function_ref<bool(CallOp, FuncOp)> wanted);

} // namespace tiletwin::tt
