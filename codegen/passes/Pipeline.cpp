// codegen/passes/Pipeline.cpp -- see Pipeline.h.
// Idea: a ring of S slots (Ring.h), filled by copies of threads. One barrier an iteration is enough: it stands behind the
//       wait for this iteration's copies, and the slot that is filled next was read before it. Products in flight may still
//       read that slot: then the copies begin behind the wait for those (DotsInFlight.h), and a barrier of its own; what the
//       program itself stores for such products goes to two slots in turn.
// Invariant: copies beyond the last iteration are not begun; none is on its way when the loop has ended.
#include "codegen/passes/Pipeline.h"
#include "codegen/passes/DotLayouts.h"
#include "codegen/passes/DotsInFlight.h"
#include "codegen/passes/Notes.h"
#include "codegen/passes/Ring.h"
#include "codegen/passes/WrittenMemory.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

/// Of what the program stores: products of the iteration before read one while the other is written.
constexpr int kStoreSlots = 2;

bool isZero(Value value) { return matchPattern(value, m_Zero()) || matchPattern(value, m_AnyZeroFloat()); }

class Pipeline final : Ring {
public:
  Pipeline(scf::ForOp loop, int stages) : Ring(loop, stages) {}

  /// Finds the loads; false if there is none.
  bool find();
  /// True for memory of the loop's body that gets several slots.
  bool canBuffer(twg::LocalAllocOp allocation);
  /// Takes more slots for a CTA that has a multiprocessor of its own.
  void deepen(const Target& target, const Options& options);
  /// barrier: the one behind which the slot of the iteration before may be filled; null: the loop has none of its own.
  /// hasStores: what threads store for products in flight gets slots, too.
  void rewrite(Operation* barrier, bool hasStores);

private:
  struct Copy {
    Slots slots;
    tt::LoadOp load;
  };

  bool addSlice(tt::LoadOp load);
  bool isCopied(twg::LocalAllocOp memory) const {
    return llvm::any_of(copies_, [&](const Copy& copy) { return copy.slots.memory() == memory; });
  }
  void findStores();
  void fill(OpBuilder& builder, const IRMapping& values, Value slot, Value enabled) override;
  void awaitFilled(OpBuilder& builder, Value slot) override;
  void passOn(OpBuilder& builder, Value slot) override;

  bool isFenced_ = false; ///< products that read shared memory by another way read the copies
  Operation* barrier_ = nullptr;
  SmallVector<Copy> copies_;
  SmallVector<Slots> stores_; ///< tiles that the program stores for products in flight
  Turn stored_{kStoreSlots, 0, {}};
};

/// Adds what the load's addresses and mask are computed from; false if that cannot be computed ahead.
bool Pipeline::addSlice(tt::LoadOp load) {
  SmallVector<Value> wanted{load.getPtr()};
  if (load.getMask()) wanted.push_back(load.getMask());
  return slice_.add(wanted);
}

bool Pipeline::find() {
  for (auto allocation : loop_.getBody()->getOps<twg::LocalAllocOp>()) {
    auto load = allocation.getSrc() ? allocation.getSrc().getDefiningOp<tt::LoadOp>() : tt::LoadOp();
    SmallVector<Operation*> users = twg::usersOf(allocation.getResult());
    bool isRead = llvm::all_of(users, llvm::IsaPred<twg::LocalLoadOp, twg::WarpgroupDotOp, twg::TmemDotOp>);
    const bool isHere = load && load->getBlock() == allocation->getBlock() && tt::hasOneUse(load.getResult());
    const bool mayBeEarlier = isHere && !isWrittenIn(loop_, load.getPtr());
    if (mayBeEarlier && isRead && canBeCopied(load, allocation.getResult().getType()) && addSlice(load)) {
      copies_.push_back({Slots(allocation), load});
      isFenced_ |= llvm::any_of(users, llvm::IsaPred<twg::WarpgroupDotOp, twg::TmemDotOp>);
    }
  }
  return !copies_.empty();
}

bool Pipeline::canBuffer(twg::LocalAllocOp allocation) {
  if (isCopied(allocation)) return true;
  return allocation.getSrc() && llvm::all_of(twg::usersOf(allocation.getResult()), [&](Operation* user) {
           return isa<twg::WarpgroupDotOp>(user) && user->getBlock() == loop_.getBody();
         });
}

void Pipeline::deepen(const Target& target, const Options& options) {
  constexpr int kMostAlone = 6; // each step of a loop waits for all copies of one
  SmallVector<twg::LocalAllocOp> memory;
  for (const Copy& copy : copies_) memory.push_back(copy.slots.memory());
  slots_ = deepened(slots_, kMostAlone, memory, target, options);
}

void Pipeline::findStores() {
  for (auto allocation : loop_.getBody()->getOps<twg::LocalAllocOp>()) {
    bool isReadInFlight = llvm::any_of(twg::usersOf(allocation.getResult()), [](Operation* user) {
      auto dot = dyn_cast<twg::WarpgroupDotOp>(user);
      return dot && dot.getInFlight();
    });
    if (!isCopied(allocation) && isReadInFlight && canBuffer(allocation)) stores_.push_back(Slots(allocation));
  }
}

/// The copies of an iteration as one group.
void Pipeline::fill(OpBuilder& builder, const IRMapping& values, Value slot, Value enabled) {
  for (Copy& copy : copies_) {
    Value mask = copy.load.getMask() ? values.lookupOrDefault(copy.load.getMask()) : Value();
    auto made = twg::AsyncCopyOp::create(builder, copy.load.getLoc(), values.lookupOrDefault(copy.load.getPtr()),
                                         copy.slots.at(builder, slot), mask, enabled);
    if (Attribute vector = copy.load->getAttr("twg.vector")) made->setAttr("twg.vector", vector);
  }
  twg::AsyncCommitOp::create(builder, loop_.getLoc());
}

/// Waits for this iteration's copies, and puts barriers between stores and products. Further copies begin behind the
/// barrier, and behind products in flight, so that these do not wait for the copies' instructions.
void Pipeline::awaitFilled(OpBuilder& builder, Value) {
  builder.setInsertionPointToStart(loop_.getBody());
  Operation* wait = twg::AsyncWaitOp::create(builder, loop_.getLoc(), uint32_t(slots_ - 2), isFenced_);
  builder.setInsertionPointAfter(wait);
  if (!barrier_) return;
  Operation* reader = firstReader(copies_.front().slots.memory());
  for (Copy& copy : copies_)
    if (Operation* other = firstReader(copy.slots.memory()); other->isBeforeInBlock(reader)) reader = other;
  if (barrier_->isBeforeInBlock(reader)) { // one barrier for both
    wait->moveAfter(barrier_);
    barrier_->erase();
    barrier_ = wait;
  } else {
    wait->moveBefore(reader);
  }
  for (Slots& store : stores_) {
    Operation* dot = firstReader(store.memory());
    if (store.memory()->isBeforeInBlock(wait) && wait->isBeforeInBlock(dot)) continue;
    builder.setInsertionPoint(dot);
    ttg::BarrierOp::create(builder, loop_.getLoc(), ttg::BarrierScope::Local);
  }
  Operation* last = barrier_;
  for (auto dot : loop_.getBody()->getOps<twg::WarpgroupDotOp>())
    if (dot.getInFlight() && last->isBeforeInBlock(dot)) last = dot;
  builder.setInsertionPointAfter(last);
}

void Pipeline::passOn(OpBuilder& builder, Value slot) {
  for (Copy& copy : copies_) {
    moveNotes(copy.load.getResult(), readFrom(copy.slots.memory()));
    copy.slots.replaceMemory(builder, slot);
    copy.slots.memory().erase(), copy.load.erase();
  }
  for (Slots& store : stores_) {
    twg::LocalAllocOp memory = store.memory();
    Value buffer = store.replaceMemory(builder, stored_.now);
    twg::LocalStoreOp::create(builder, memory.getLoc(), memory.getSrc(), buffer);
    memory.erase();
  }
}

void Pipeline::rewrite(Operation* barrier, bool hasStores) {
  IRRewriter rewriter(loop_);
  Location where = loop_.getLoc();
  barrier_ = barrier;
  if (hasStores) findStores();
  for (Copy& copy : copies_) copy.slots.allocate(rewriter, slots_);
  for (Slots& store : stores_) store.allocate(rewriter, kStoreSlots);
  Turn* stored = &stored_;
  scf::ForOp made = rewriteLoop(rewriter, stores_.empty() ? ArrayRef<Turn*>() : ArrayRef<Turn*>(stored));
  // Behind the wait for products in flight: no warp may read the slots, or what tensor copies have brought, when the barrier
  // lets others write there.
  Operation* behind = made;
  while (isa_and_nonnull<twg::WarpgroupWaitOp>(behind->getNextNode())) behind = behind->getNextNode();
  rewriter.setInsertionPointAfter(behind);
  twg::AsyncWaitOp::create(rewriter, where, 0u, false);
}

} // namespace

bool canBeCopied(tt::LoadOp load, twg::MemDescType memory) {
  if (load.getIsVolatile()) return false;
  if (load.getOther() && !isZero(load.getOther())) return false;
  if (contiguousDimension(twg::layoutOf(load.getResult())) != memory.getLayout().getContiguous()) return false;
  auto vector = load->getAttrOfType<IntegerAttr>("twg.vector");
  int64_t elements = vector ? vector.getInt() : 1;
  int64_t bytes = elements * twg::sharedLayoutOf(memory).elementBytes();
  return bytes == 4 || bytes == 8 || bytes == 16;
}

void pipelineLoops(tt::FuncOp kernel, const Target& target, const Options& options) {
  if (!target.features().asyncCopies) return;
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops) {
    const int stages = stagesOf(loop, options);
    if (stages < 2) continue;
    Pipeline pipeline(loop, stages);
    bool hasCopies = pipeline.find();
    // Beside tensor copies products may be in flight already: they are waited for in front of what threads store for them.
    Operation* barrier = DotsInFlight::barrierIn(loop);
    const bool hasStores = !barrier;
    if (!barrier && options.dotsInFlight) {
      DotsInFlight dots(loop, [&](twg::LocalAllocOp one) { return hasCopies && pipeline.canBuffer(one); });
      if (dots.any()) barrier = dots.rewrite();
    }
    if (!hasCopies) continue;
    pipeline.deepen(target, options);
    pipeline.rewrite(barrier, barrier && hasStores);
  }
}

} // namespace tiletwin::codegen
