// codegen/emit/PairOps.cpp -- see PairOps.h.
#include "codegen/emit/PairOps.h"
#include "codegen/emit/TargetCode.h"
#include "codegen/passes/Pairs.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Value;

void meetPair(Emitter& e) {
  e.inlinePtx("barrier.cluster.arrive.relaxed; barrier.cluster.wait;", "~{memory}", {}, {}, true);
}

void meetWithMemory(Emitter& e) {
  e.inlinePtx("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;", "~{memory}", {}, {}, true);
}

template <> LogicalResult emit(Emitter& e, twg::CtaRankOp rank) {
  if (!e.isDivided()) return rank.emitOpError("is for programs that two CTAs run together (twg.divided)");
  e.define(rank.getResult(), e.intrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_cluster_ctarank, {}, {}));
  return success();
}

template <> LogicalResult emit(Emitter& e, twg::PairMeetOp meet) {
  if (!e.isDivided()) return meet.emitOpError("is for programs that two CTAs run together (twg.divided)");
  meetWithMemory(e);
  return success();
}

/// In the scope of a CTA, as PTX has it where none is said. That of a cluster would be a fence of all memory at each step, for
/// nothing: of what the barrier guards no thread reads or writes anything, but for copies and products, which wait for barriers.
template <> LogicalResult emit(Emitter& e, twg::PairArriveOp arrive) {
  if (e.runBy() != RunBy::Producer || !e.isInPairs())
    return arrive.emitOpError("is for the producer of a kernel whose CTAs run in pairs (twg.pairs)");
  Value* own = e.intrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_cluster_ctarank, {}, {});
  Value* other = e.ir().CreateSub(e.int32(kCtasOfPair - 1), own);
  e.inlinePtx("{ .reg .b32 there; mapa.shared::cluster.u32 there, $0, $1; mbarrier.arrive.shared::cta.b64 _, [$0]; "
              "mbarrier.arrive.shared::cluster.b64 _, [there]; }",
              "r,r,~{memory}", {}, {e.scalar(arrive.getBarrier()), other}, true);
  return success();
}

} // namespace tiletwin::codegen
