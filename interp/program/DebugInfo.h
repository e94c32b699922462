// interp/program/DebugInfo.h -- what a plan made for a native debugger says about its source: statements, functions, variables.
//
// Here:      plain data that interp/plan fills and interp/debug turns into native code with debug information.
// Not here:  MLIR, LLVM, running (interp/debug/DebugRun.cpp).
// Invariant: `steps` has one entry for each instruction of Plan::code. The code of a called function is one range of it, so
//            that calls, too, are nested ranges: [begin, end] from its Enter to its Leave.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tiletwin::interp {

/// A name of the program and the slot of the frame that holds its value; nothing else is ever in that slot.
struct DebugVariable {
  std::string name;
  std::string type;           ///< of an element, as the language names it: "fp32", "uint8", "pointer<fp16>", "str"
  std::vector<int64_t> shape; ///< empty: a scalar
  uint32_t offset = 0;        ///< in the arena
  uint32_t bytes = 0;
  int32_t function = 0; ///< index into DebugInfo::functions
  int32_t argument = 0; ///< parameters: 1, 2, ...
};

/// From a point of its function on `variable` is visible, besides what `parent` shows.
struct DebugScope {
  int32_t parent = -1, variable = -1;
};

struct DebugStatement {
  int32_t file = 0; ///< index into DebugInfo::files
  int32_t line = 0, column = 0;
  int32_t function = 0, scope = -1;
  std::vector<std::string> ttir; ///< its operations, a line each
};

struct DebugFunction {
  std::string name;
  int32_t file = 0, line = 0;
  int32_t caller = -1;         ///< statement that calls it
  uint32_t begin = 0, end = 0; ///< Plan::code: its Enter and its Leave (the kernel: one past the last instruction)
};

struct DebugStep {
  enum Kind : uint8_t {
    Run,    ///< one C call runs it
    Jump,   ///< the same, and it goes on at `target` or at the next instruction
    Goto,   ///< at `target`
    Copy,   ///< `bytes` bytes of the arena, from `from` to `to`: a variable changes
    Enter,  ///< a function's code begins: `target` is its number
    Leave,  ///< and ends
    Return, ///< the program ends
  };
  Kind kind = Run;
  int32_t statement = -1; ///< -1: before the first one
  int32_t target = 0;
  uint32_t to = 0, from = 0, bytes = 0;
};

struct DebugInfo {
  std::vector<std::string> files;
  std::vector<DebugVariable> variables;
  std::vector<DebugScope> scopes;
  std::vector<DebugStatement> statements;
  std::vector<DebugFunction> functions; ///< [0] is the kernel; one entry for each call
  std::vector<DebugStep> steps;
  std::vector<uint32_t> launchVariables; ///< pid0 .. grid2: in every function
};

} // namespace tiletwin::interp
