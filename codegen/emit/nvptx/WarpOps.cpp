// codegen/emit/nvptx/WarpOps.cpp -- what the threads of a warp or a CTA do together.
#include "codegen/emit/nvptx/Nvptx.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Value;

/// Of a program's threads, where others of the CTA do something else. 0 is that of all.
constexpr int kBarrierOfProgram = 1;

void Nvptx::barrier(Emitter& e) const {
  if (e.runBy() == RunBy::All) {
    e.intrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all, {}, {e.int32(0)});
    return;
  }
  Value* threads = e.int32(e.options().numWarps * e.target().warpSize);
  e.intrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_count, {}, {e.int32(kBarrierOfProgram), threads});
}

Value* Nvptx::shuffle(Emitter& e, StringRef mode, Value* word, Value* operand) const {
  auto id = mode == "bfly"  ? llvm::Intrinsic::nvvm_shfl_sync_bfly_i32
            : mode == "idx" ? llvm::Intrinsic::nvvm_shfl_sync_idx_i32
                            : llvm::Intrinsic::nvvm_shfl_sync_up_i32;
  Value* clamp = e.int32(mode == "up" ? 0 : 31);
  return e.intrinsic(id, {}, {e.int32(-1), word, operand, clamp});
}

/// redux.sync
Value* Nvptx::reduceWarp(Emitter& e, Operation* op, Value* word) const {
  if (!e.features().warpReductions) return nullptr;
  using Found = std::optional<llvm::Intrinsic::ID>;
  Found id = llvm::TypeSwitch<Operation*, Found>(op)
                 .Case([](arith::AddIOp) { return llvm::Intrinsic::nvvm_redux_sync_add; })
                 .Case([](arith::AndIOp) { return llvm::Intrinsic::nvvm_redux_sync_and; })
                 .Case([](arith::OrIOp) { return llvm::Intrinsic::nvvm_redux_sync_or; })
                 .Case([](arith::XOrIOp) { return llvm::Intrinsic::nvvm_redux_sync_xor; })
                 .Case([](arith::MaxSIOp) { return llvm::Intrinsic::nvvm_redux_sync_max; })
                 .Case([](arith::MinSIOp) { return llvm::Intrinsic::nvvm_redux_sync_min; })
                 .Case([](arith::MaxUIOp) { return llvm::Intrinsic::nvvm_redux_sync_umax; })
                 .Case([](arith::MinUIOp) { return llvm::Intrinsic::nvvm_redux_sync_umin; })
                 .Default([](Operation*) { return std::nullopt; });
  return id ? e.intrinsic(*id, {}, {word, e.int32(-1)}) : nullptr;
}

} // namespace tiletwin::codegen
