// codegen/emit/amdgcn/Amdgcn.h -- AMD GPUs: plain LLVM IR, with branches where PTX has predicates.
#pragma once
#include "codegen/emit/TargetCode.h"

namespace tiletwin::codegen {

class Amdgcn final : public TargetCode {
public:
#include "codegen/emit/TargetCode.inc" // every function of TargetCode
};

} // namespace tiletwin::codegen
