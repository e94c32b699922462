// codegen/emit/amdgcn/KernelOps.cpp -- the kernel, and where a thread is in the grid.
// Here:      warps are wavefronts, CTAs work-groups, shared memory is LDS, whose size is fixed when all is emitted.
#include "codegen/emit/amdgcn/Amdgcn.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

using namespace llvm::Intrinsic;

namespace tiletwin::codegen {

using llvm::Value;

namespace {

/// What a kernel never asks the runtime for; else it would pay registers and arguments for it.
constexpr llvm::StringLiteral kUnused[] = {
    "amdgpu-no-completion-action", "amdgpu-no-default-queue", "amdgpu-no-dispatch-id",   "amdgpu-no-dispatch-ptr",
    "amdgpu-no-heap-ptr",          "amdgpu-no-hostcall-ptr",  "amdgpu-no-lds-kernel-id", "amdgpu-no-multigrid-sync-arg",
    "amdgpu-no-queue-ptr",         "amdgpu-no-workitem-id-y", "amdgpu-no-workitem-id-z",
};

} // namespace

void Amdgcn::declareKernel(const Emitter& e, llvm::Function& kernel) const {
  kernel.setCallingConv(llvm::CallingConv::AMDGPU_KERNEL);
  const int threads = e.options().numWarps * e.target().warpSize;
  const std::string count = std::to_string(threads);
  kernel.addFnAttr("amdgpu-flat-work-group-size", count + "," + count);
  kernel.addFnAttr("uniform-work-group-size", "true");
  kernel.addFnAttr("denormal-fp-math", "ieee,ieee");
  if (e.options().wavesPerUnit > 0) kernel.addFnAttr("amdgpu-waves-per-eu", std::to_string(e.options().wavesPerUnit));
  for (llvm::StringRef attribute : kUnused) kernel.addFnAttr(attribute);
  auto number = [&](int extent) {
    return llvm::ConstantAsMetadata::get(
        llvm::ConstantInt::get(llvm::Type::getInt32Ty(kernel.getContext()), uint64_t(extent)));
  };
  kernel.setMetadata("reqd_work_group_size",
                     llvm::MDNode::get(kernel.getContext(), {number(threads), number(1), number(1)}));
}

/// LDS has a fixed size in the kernel's descriptor: another variable takes the place of the one without a size.
void Amdgcn::sizeShared(llvm::GlobalVariable& memory, uint32_t bytes) const {
  auto* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(memory.getContext()), bytes);
  auto* sized = new llvm::GlobalVariable(*memory.getParent(), type, false, llvm::GlobalValue::InternalLinkage,
                                         llvm::PoisonValue::get(type), "", nullptr, llvm::GlobalValue::NotThreadLocal,
                                         memory.getAddressSpace());
  sized->setAlignment(llvm::Align(16));
  sized->takeName(&memory);
  memory.replaceAllUsesWith(sized);
  memory.eraseFromParent();
}

Value* Amdgcn::thread(Emitter& e) const { return e.intrinsic(amdgcn_workitem_id_x, {}, {}); }

Value* Amdgcn::programId(Emitter& e, unsigned axis) const {
  constexpr ID kIds[] = {amdgcn_workgroup_id_x, amdgcn_workgroup_id_y, amdgcn_workgroup_id_z};
  return e.intrinsic(kIds[axis], {}, {});
}

/// The first three words behind the kernel's arguments (code object version 5).
Value* Amdgcn::numPrograms(Emitter& e, unsigned axis) const {
  llvm::IRBuilder<>& b = e.ir();
  Value* hidden = e.intrinsic(amdgcn_implicitarg_ptr, {}, {});
  Value* address = b.CreateConstInBoundsGEP1_32(b.getInt32Ty(), hidden, axis);
  return b.CreateAlignedLoad(b.getInt32Ty(), address, llvm::Align(4));
}

} // namespace tiletwin::codegen
