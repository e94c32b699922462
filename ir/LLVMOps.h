// ir/LLVMOps.h -- the operations of MLIR's LLVM dialect that kernels are made of, beside those of Registry.h.
// Here alone, because that dialect's header takes longer to parse than all others together: only what makes tables needs it.
#pragma once
#include "ir/Registry.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tiletwin {

using LLVMOps = OpList<mlir::LLVM::AssumeOp>;

} // namespace tiletwin
