// tests/tools/TargetName.h -- a target of code generation by its name, for the options of developer tools.
#pragma once
#include "codegen/Codegen.h"
#include "llvm/ADT/StringRef.h"

namespace tiletwin::codegen {

/// "sm_90a", for which the PTX version is the newest that code is made for, or "gfx942".
inline Target targetOf(llvm::StringRef arch) {
  Target target;
  target.arch = arch.str();
  if (arch.starts_with("gfx")) {
    target.backend = "hip";
    target.capability = 0;
    target.warpSize = arch.starts_with("gfx9") ? 64 : 32;
    return target;
  }
  arch.consume_front("sm_");
  arch.consumeInteger(10, target.capability);
  return target;
}

} // namespace tiletwin::codegen
