// interp/debug/jit/Emit.h -- a debug plan's functions as LLVM IR, one function for each call of a jit function.
#pragma once
#include "interp/debug/jit/Jit.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include <memory>

namespace tiletwin::interp::debug {

/// The kernel's function has this name in the module.
inline constexpr const char* kEntry = "tiletwin_kernel_entry";
std::unique_ptr<llvm::Module> emitModule(llvm::LLVMContext& context, const DebugInfo& info, RunFn run, JumpFn jump);

} // namespace tiletwin::interp::debug
