// codegen/emit/nvptx/KernelOps.cpp -- the kernel, and where a thread is in the grid.
#include "codegen/emit/nvptx/Nvptx.h"
#include "codegen/passes/Pairs.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm::Intrinsic;

namespace tiletwin::codegen {

using llvm::Value;

void Nvptx::declareKernel(const Emitter& e, llvm::Function& kernel) const {
  kernel.setCallingConv(llvm::CallingConv::PTX_Kernel);
  kernel.addFnAttr("nvvm.reqntid", std::to_string(e.threads()));
  const int registers = e.registersAtStart() ? e.registersAtStart() : e.options().maxRegisters;
  if (e.isInPairs()) kernel.addFnAttr("nvvm.cluster_dim", std::to_string(kCtasOfPair));
  if (registers > 0) kernel.addFnAttr("nvvm.maxnreg", std::to_string(registers));
}

/// Shared memory is dynamic: a launch gives it.
void Nvptx::sizeShared(llvm::GlobalVariable&, uint32_t) const {}

Value* Nvptx::thread(Emitter& e) const { return e.intrinsic(nvvm_read_ptx_sreg_tid_x, {}, {}); }

/// Two CTAs that run a program together are a cluster along the first dimension.
Value* Nvptx::programId(Emitter& e, unsigned axis) const {
  if (e.isDivided() && axis == 0) return e.intrinsic(nvvm_read_ptx_sreg_clusterid_x, {}, {});
  constexpr ID kIds[] = {nvvm_read_ptx_sreg_ctaid_x, nvvm_read_ptx_sreg_ctaid_y, nvvm_read_ptx_sreg_ctaid_z};
  return e.intrinsic(kIds[axis], {}, {});
}

Value* Nvptx::numPrograms(Emitter& e, unsigned axis) const {
  if (e.isDivided() && axis == 0) return e.intrinsic(nvvm_read_ptx_sreg_nclusterid_x, {}, {});
  constexpr ID kIds[] = {nvvm_read_ptx_sreg_nctaid_x, nvvm_read_ptx_sreg_nctaid_y, nvvm_read_ptx_sreg_nctaid_z};
  return e.intrinsic(kIds[axis], {}, {});
}

} // namespace tiletwin::codegen
