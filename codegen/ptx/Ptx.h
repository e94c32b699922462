// codegen/ptx/Ptx.h -- LLVM IR to PTX: optimisation and the NVPTX backend.
// Invariant: no pass may fuse, reassociate or approximate: contraction is off, nothing carries fast-math flags. Nor may the
//            assembler: a product says that it is rounded, and so does a sum that a product could be fused with.
#pragma once
#include "codegen/Codegen.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>

namespace tiletwin::codegen {

/// A target machine that contracts nothing, of a target that is registered with LLVM. An error names an architecture that
/// LLVM does not know.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> makeMachine(llvm::StringRef triple, const std::string& arch,
                                                                 const std::string& features);
/// The NVPTX target machine. An error names an architecture or PTX version that LLVM does not know.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> makeTargetMachine(const Target& target);
/// Inlines, simplifies and unrolls.
void optimise(llvm::Module& module, llvm::TargetMachine& machine);
/// The module's PTX. The module is used up.
llvm::Expected<std::string> writePtx(llvm::Module& module, llvm::TargetMachine& machine);

} // namespace tiletwin::codegen
