// interp/debug/jit/Jit.h -- the module tiletwin_gdb.so: native code and debug information for plans, and what gdb reads.
//
// Here:      the one entry that interp/debug calls through dlsym, and what it exchanges.
// Not here:  plans' meaning: native code calls back for everything but control flow between statements and copies.
// Idea:      LLVM's x86 code generator is large, so it has a module of its own that is opened when TILETWIN_GDB asks for it.
// Invariant: nothing here is freed: gdb may look at any of it until the process ends.
#pragma once
#include "interp/program/DebugInfo.h"
#include <cstdint>

namespace tiletwin::interp::debug {

/// Runs instructions [begin, end) on a frame. Not 0: the program has left.
using RunFn = int (*)(void* frame, uint32_t begin, uint32_t end);
/// Runs an instruction that may jump: 0 it goes on with the next one, 1 with its target, 2 the program has left.
using JumpFn = int (*)(void* frame, uint32_t at);
/// A kernel as native code: 0, or not 0 if the program has left before its end.
using NativeKernel = int (*)(void* frame, void* arena);

/// What the gdb script reads, by the names of the exported symbols. Its layout is fixed: python/tiletwin/gdb/tw_state.py.
struct GdbState {
  uint32_t version = 2;
  uint32_t scriptLoaded = 0; ///< the script sets it
  int64_t wanted = -1;       ///< the script sets it: tiletwin_gdb_reached() is called before this program; -2: any
  int64_t current = -1;      ///< number of the running program, x fastest; -1: no kernel runs
  int64_t total = 0;         ///< programs of the grid
  int32_t program[3] = {0, 0, 0};
  int32_t grid[3] = {0, 0, 0};
  const char* launch = nullptr; ///< JSON: kernel, arguments, buffers (DebugText.cpp)
  uint64_t launchBytes = 0;
  const char* kernel = nullptr; ///< JSON: files, statements, variables
  uint64_t kernelBytes = 0;
  /// -1: every program runs in native code. Else the script has seen that all breakpoints in kernels ask for program ids,
  /// and only the programs that one of these many entries of `only` picks need to (-1: any coordinate).
  int32_t picks = -1;
  static constexpr int kMostPicks = 16;
  int32_t only[kMostPicks][3] = {};
};

struct JitModule {
  GdbState* state;
  void (*reached)();
  /// Null on failure; then *error is a text that stays.
  NativeKernel (*compile)(const DebugInfo& info, RunFn run, JumpFn jump, const char** error);
};
/// "tiletwinGdbModule", of type JitModule*(). "tiletwinGdbInterface", of type uint64_t(), tells which declarations of this
/// file the module was built with (TILETWIN_GDB_INTERFACE, made by the build); one with another number is not called.
using JitModuleFn = const JitModule* (*)();

} // namespace tiletwin::interp::debug
