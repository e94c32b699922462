// interp/debug/jit/Compile.h -- LLVM IR to code in memory that gdb knows.
#pragma once
#include "interp/debug/jit/Jit.h"

namespace tiletwin::interp::debug {

/// See JitModule::compile.
NativeKernel compileKernel(const DebugInfo& info, RunFn run, JumpFn jump, const char** error);

} // namespace tiletwin::interp::debug
