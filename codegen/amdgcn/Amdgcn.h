// codegen/amdgcn/Amdgcn.h -- LLVM IR to the assembly of AMD GPUs, and that to an object file.
// Not here:  optimisation (ptx/Ptx.h: the same for all), the linker that makes a code object (tiletwin/codegen/lld.py).
// Invariant: no pass may fuse, reassociate or approximate: contraction is off, nothing carries fast-math flags.
#pragma once
#include "codegen/Codegen.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>

namespace tiletwin::codegen {

/// The AMDGPU target machine. An error names an architecture that LLVM does not know, or threads of a warp that it has not.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> makeAmdgcnMachine(const Target& target);
/// The module's assembly. The module is used up. An error says what the architecture has too little of.
llvm::Expected<std::string> writeAmdgcn(llvm::Module& module, llvm::TargetMachine& machine);
/// An object file of assembly. An error begins with the place in it.
llvm::Expected<std::string> objectOfAmdgcn(llvm::StringRef text, llvm::StringRef fileName, const Target& target);

} // namespace tiletwin::codegen
