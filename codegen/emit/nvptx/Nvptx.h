// codegen/emit/nvptx/Nvptx.h -- NVIDIA GPUs: PTX as inline assembly, and LLVM's intrinsics for it.
#pragma once
#include "codegen/emit/TargetCode.h"

namespace tiletwin::codegen {

class Nvptx final : public TargetCode {
public:
#include "codegen/emit/TargetCode.inc" // every function of TargetCode
};

} // namespace tiletwin::codegen
