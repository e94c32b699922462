// codegen/emit/amdgcn/WarpOps.cpp -- what the lanes of a wavefront or the threads of a work-group do together.
#include "codegen/emit/amdgcn/Amdgcn.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Value;

void Amdgcn::barrier(Emitter& e) const {
  llvm::IRBuilder<>& b = e.ir();
  llvm::SyncScope::ID group = e.module().getContext().getOrInsertSyncScopeID("workgroup");
  b.CreateFence(llvm::AtomicOrdering::Release, group);
  e.intrinsic(llvm::Intrinsic::amdgcn_s_barrier, {}, {});
  b.CreateFence(llvm::AtomicOrdering::Acquire, group);
}

/// ds_bpermute takes the source lane as the address of its word. Control flow around a shuffle is the same in all lanes, so
/// all of them are active.
Value* Amdgcn::shuffle(Emitter& e, StringRef mode, Value* word, Value* operand) const {
  llvm::IRBuilder<>& b = e.ir();
  Value* source = operand;
  if (mode == "bfly") source = b.CreateXor(e.lane(), operand);
  if (mode == "up")
    source = b.CreateSelect(b.CreateICmpUGE(e.lane(), operand), b.CreateSub(e.lane(), operand), e.lane());
  return e.intrinsic(llvm::Intrinsic::amdgcn_ds_bpermute, {}, {b.CreateShl(source, 2), word});
}

Value* Amdgcn::reduceWarp(Emitter&, Operation*, Value*) const { return nullptr; }

} // namespace tiletwin::codegen
