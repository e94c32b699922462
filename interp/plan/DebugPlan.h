// interp/plan/DebugPlan.h -- what Emitter keeps while it plans a function with notes for a native debugger.
// Here:      the current statement, function and scope; slots of variables. See DebugPlan.cpp.
#pragma once
#include "interp/program/DebugInfo.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <memory>
#include <string>
#include <tuple>

namespace tiletwin::interp {

using Reg = uint32_t;

struct DebugPlan {
  std::unique_ptr<DebugInfo> info = std::make_unique<DebugInfo>();
  int32_t statement = -1;
  int32_t function = 0;
  int32_t scope = -1;
  bool begun = false;     ///< the function's first statement has been seen
  std::vector<Reg> slots; ///< of DebugInfo::variables
  std::map<std::tuple<int32_t, std::string, std::string, std::vector<int64_t>>, int32_t> variables;
  std::map<std::string, int32_t> files;
  llvm::DenseMap<mlir::Operation*, int32_t> statementOf; ///< operations with regions
  /// Positions of operations in their function, first and last of what is inside.
  llvm::DenseMap<mlir::Operation*, std::pair<int32_t, int32_t>> order;
  std::map<mlir::Operation*, std::unique_ptr<mlir::AsmState>> names; ///< of values, by function

  int32_t fileOf(const std::string& path) {
    auto [it, isNew] = files.try_emplace(path, int32_t(info->files.size()));
    if (isNew) info->files.push_back(path);
    return it->second;
  }
  int32_t commonScope(int32_t a, int32_t b) const {
    while (a != b) // parents have lower numbers
      (a > b ? a : b) = info->scopes[size_t(a > b ? a : b)].parent;
    return a;
  }
  /// The innermost visible variable of that name, or -1.
  int32_t visible(const std::string& name) const {
    for (int32_t s = scope; s >= 0; s = info->scopes[size_t(s)].parent)
      if (info->variables[size_t(info->scopes[size_t(s)].variable)].name == name)
        return info->scopes[size_t(s)].variable;
    for (size_t v = 0; v < info->variables.size(); ++v) {
      const DebugVariable& variable = info->variables[v];
      if (variable.function == function && variable.argument && variable.name == name) return int32_t(v);
    }
    return -1;
  }
};

} // namespace tiletwin::interp
