// codegen/passes/PipelineTma.cpp -- see PipelineTma.h.
// Idea: a ring (Ring.h) with a barrier in shared memory for each slot, that expects all bytes of an iteration's blocks. An
//       iteration waits for its slot's; then all threads wait for each other, behind which nobody reads the slot of the
//       iteration before, and that slot's copies begin there. Products in flight are waited for first (DotsInFlight.h).
// Invariant: a copy that is not begun, because the loop ends before, expects nothing: the phases of a slot's barrier are
//       those of the iterations that use it. None is on its way when the loop has ended.
#include "codegen/passes/PipelineTma.h"
#include "codegen/passes/CopyGroups.h"
#include "codegen/passes/DotsInFlight.h"
#include "codegen/passes/TensorCopies.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

bool writesGlobalMemory(scf::ForOp loop) {
  auto writes = [](Operation* op) {
    return mayExposeWrites(op) || isa<twg::TensorStoreOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  return loop.walk(writes).wasInterrupted();
}

/// The blocks of one loop.
class TensorCopiesAhead final : Ring {
public:
  TensorCopiesAhead(scf::ForOp loop, int slots);

  /// False if there are none, or what their places are computed from cannot be computed ahead.
  bool canRewrite() { return !groups_.empty() && slice_.add(indices()); }
  bool has(twg::LocalAllocOp memory) const {
    return llvm::any_of(groups_, [&](const CopyGroup& group) { return group.has(memory); });
  }
  /// barrier: the one behind which nobody reads the slot of the iteration before, if products in flight have one.
  void rewrite(Operation* barrier);

private:
  SmallVector<Value> indices() const;
  void allocate(OpBuilder& builder);
  void fill(OpBuilder& builder, const IRMapping& values, Value slot, Value enabled) override;
  void awaitFilled(OpBuilder& builder, Value slot) override;
  void passOn(OpBuilder& builder, Value slot) override;

  SmallVector<CopyGroup, 2> groups_;
  Value barriers_; ///< one for each slot
  Operation* barrier_ = nullptr;
};

TensorCopiesAhead::TensorCopiesAhead(scf::ForOp loop, int slots) : Ring(loop, slots) {
  if (mayWaitForOthers(loop)) return; // copies begun earlier could miss what others write
  groups_ = copyGroupsOf(loop);
  auto isOfProgram = [](const CopyGroup& group) { return group.isOfProgram(); };
  if (writesGlobalMemory(loop) && llvm::any_of(groups_, isOfProgram)) groups_.clear();
}

/// What the places of the blocks are computed from.
SmallVector<Value> TensorCopiesAhead::indices() const {
  SmallVector<Value> all;
  for (const CopyGroup& group : groups_)
    for (BlockCopy copy : group.copies) llvm::append_range(all, copy.load.getIndices());
  return all;
}

/// Slots at the builder, and barriers where the kernel begins: memory is made a barrier once.
void TensorCopiesAhead::allocate(OpBuilder& builder) {
  OpBuilder atStart(builder.getContext());
  auto kernel = loop_->getParentOfType<tt::FuncOp>();
  atStart.setInsertionPointToStart(&kernel.getBody().front());
  twg::MemDescType type = barriersType(builder.getContext(), slots_);
  barriers_ = twg::LocalAllocOp::create(atStart, loop_.getLoc(), type, Value(), IntegerAttr());
  twg::BarrierInitOp::create(atStart, loop_.getLoc(), barriers_);
  for (CopyGroup& group : groups_)
    for (BlockCopy& copy : group.copies) copy.slots.allocate(builder, slots_);
  bool isGlobal = llvm::any_of(groups_, [](CopyGroup& group) { return group.before.getGlobal(); });
  twg::ProxyBarrierOp::create(builder, loop_.getLoc(), isGlobal);
}

void TensorCopiesAhead::fill(OpBuilder& builder, const IRMapping& values, Value slot, Value enabled) {
  uint32_t bytes = 0;
  for (const CopyGroup& group : groups_) bytes += group.bytes();
  Value barrier = barrierAt(builder, loop_.getLoc(), barriers_, slot);
  twg::BarrierExpectOp::create(builder, loop_.getLoc(), barrier, bytes, enabled);
  for (CopyGroup& group : groups_)
    for (BlockCopy& copy : group.copies) {
      SmallVector<Value> at;
      for (Value place : copy.load.getIndices()) at.push_back(values.lookupOrDefault(place));
      twg::TensorLoadOp::create(builder, copy.load.getLoc(), copy.load.getDesc(), at, copy.slots.at(builder, slot),
                                barrier, enabled, Value());
    }
}

void TensorCopiesAhead::awaitFilled(OpBuilder& builder, Value slot) {
  builder.setInsertionPointToStart(loop_.getBody());
  twg::BarrierWaitOp::create(builder, loop_.getLoc(), barrierAt(builder, loop_.getLoc(), barriers_, slot), Value());
  if (barrier_)
    builder.setInsertionPointAfter(barrier_);
  else
    ttg::BarrierOp::create(builder, loop_.getLoc(), ttg::BarrierScope::Local);
}

void TensorCopiesAhead::passOn(OpBuilder& builder, Value slot) {
  for (CopyGroup& group : groups_) {
    for (BlockCopy& copy : group.copies) {
      copy.load.erase();
      copy.slots.replaceMemory(builder, slot);
      copy.slots.memory().erase();
    }
    group.wait.erase(), group.expect.erase(), group.before.erase();
  }
}

void TensorCopiesAhead::rewrite(Operation* barrier) {
  IRRewriter rewriter(loop_);
  barrier_ = barrier;
  allocate(rewriter);
  rewriteLoop(rewriter);
}

} // namespace

/// Removes the barrier for copies that are waited for at once, if none is left.
static void eraseUnusedBarriers(tt::FuncOp kernel) {
  SmallVector<twg::BarrierInitOp> unused;
  kernel.walk([&](twg::BarrierInitOp init) {
    if (init.getBarriers().hasOneUse()) unused.push_back(init);
  });
  for (twg::BarrierInitOp init : unused) {
    Operation* memory = init.getBarriers().getDefiningOp();
    init.erase();
    memory->erase();
  }
}

void pipelineTensorCopies(tt::FuncOp kernel, const Target& target, const Options& options) {
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops) {
    const int slots = slotsOf(loop, target, options);
    if (slots < 2) continue;
    TensorCopiesAhead blocks(loop, slots);
    if (!blocks.canRewrite()) continue;
    DotsInFlight dots(loop, [&](twg::LocalAllocOp memory) { return blocks.has(memory); });
    // The wait in front of what threads store takes a barrier more. Other CTAs work while one waits for its product.
    const bool areInFlight = options.dotsInFlight && dots.any() && (options.isAlone || dots.areBuffered());
    blocks.rewrite(areInFlight ? dots.rewrite() : nullptr);
  }
  eraseUnusedBarriers(kernel);
}

} // namespace tiletwin::codegen
