// ir/PassSteps.h -- the steps that the passes of ir/ are made of. For Passes.cpp and DebugPasses.cpp.
#pragma once
#include "ir/TT.h"
#include "mlir/IR/BuiltinOps.h"

namespace tiletwin::tt {

/// Private functions that no call names any more.
void eraseDeadFunctions(mlir::ModuleOp module);
/// Blocks that nothing branches to.
void eraseUnreachable(mlir::ModuleOp module);
void canonicalize(FuncOp function);
void removeCommonSubexpressions(FuncOp function);

} // namespace tiletwin::tt
