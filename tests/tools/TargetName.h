// tests/tools/TargetName.h -- a target of code generation by its name, for the options of developer tools.
#pragma once
#include "codegen/Codegen.h"
#include "llvm/ADT/StringRef.h"

namespace tiletwin::codegen {

/// "sm_90a". The PTX version is the newest that code is made for.
inline Target targetOf(llvm::StringRef arch) {
  Target target;
  target.arch = arch.str();
  arch.consume_front("sm_");
  arch.consumeInteger(10, target.capability);
  return target;
}

} // namespace tiletwin::codegen
