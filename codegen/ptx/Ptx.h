// codegen/ptx/Ptx.h -- LLVM IR to PTX: optimisation and the NVPTX backend.
// Invariant: no pass may fuse, reassociate or approximate: contraction is off, nothing carries fast-math flags.
#pragma once
#include "codegen/Codegen.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>

namespace tiletwin::codegen {

/// Settles what LLVM takes from the command line, for the whole process: before the first target machine is made.
void settleOptions();
/// The NVPTX target machine. An error names an architecture or PTX version that LLVM does not know.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> makeTargetMachine(const Target& target);
/// Inlines, simplifies and unrolls.
void optimise(llvm::Module& module, llvm::TargetMachine& machine);
/// The module's PTX. The module is used up.
llvm::Expected<std::string> writePtx(llvm::Module& module, llvm::TargetMachine& machine);

} // namespace tiletwin::codegen
