// interp/debug/jit/Types.h -- debug types for the language's types.
#pragma once
#include "interp/program/DebugInfo.h"
#include "llvm/IR/DIBuilder.h"
#include <map>
#include <string>

namespace tiletwin::interp::debug {

class Types {
public:
  explicit Types(llvm::DIBuilder& builder) : builder_(builder) {}
  /// Of a variable: its element's type, or an array of it.
  llvm::DIType* of(const DebugVariable& variable);

private:
  llvm::DIType* element(const std::string& name);
  llvm::DIType* make(const std::string& name);

  llvm::DIBuilder& builder_;
  std::map<std::string, llvm::DIType*> known_;
};

} // namespace tiletwin::interp::debug
