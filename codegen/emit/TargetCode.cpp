// codegen/emit/TargetCode.cpp -- see TargetCode.h.
#include "codegen/emit/TargetCode.h"
#include "codegen/emit/amdgcn/Amdgcn.h"
#include "codegen/emit/nvptx/Nvptx.h"

namespace tiletwin::codegen {

const TargetCode& targetCodeOf(const Target& target) {
  static const Nvptx nvptx;
  static const Amdgcn amdgcn;
  if (target.backend == "hip") return amdgcn;
  return nvptx;
}

} // namespace tiletwin::codegen
