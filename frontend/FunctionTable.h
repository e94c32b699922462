// frontend/FunctionTable.h -- the private functions a module already has: each jit function once per argument
// structure.
#pragma once
#include "frontend/Structure.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <memory>

namespace tiletwin::frontend {

/// A private function that was emitted for one list of argument structures.
struct EmittedFunction {
  PyRef function; ///< the jit function
  std::vector<Structure> arguments;
  std::string symbol;
  Structure result;
  bool active = false; ///< its body is being walked: a call now would be recursion
};

struct FunctionTable {
  llvm::StringMap<std::vector<std::unique_ptr<EmittedFunction>>> byMangledName;
  /// What the walker reads of each jit function.
  llvm::DenseMap<PyObject*, std::shared_ptr<struct FunctionInfo>> infos;
  int depth = 0; ///< of calls whose bodies are being walked
};

} // namespace tiletwin::frontend
