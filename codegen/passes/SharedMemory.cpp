// codegen/passes/SharedMemory.cpp -- see SharedMemory.h.
// Idea: operations are numbered in program order; an allocation lives from its operation to its last use, and to the end
//       of every loop that the use, but not the allocation, is in. What a product in flight reads lives for all of the
//       loop, because it is waited for in the next iteration. What one side of a branch uses does not live on its other side.
//       Larger ones are placed first, each at the lowest place that is free for as long as it lives; in front of all others
//       those that a twg.producer uses, barriers too, since they live as long as the kernel: what lives shortly has all of
//       the rest. In a block to which the producer's rings are lent, their memory is free.
#include "codegen/passes/SharedMemory.h"
#include "codegen/passes/Scratch.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

constexpr uint32_t kTensorCopyAlignment = 128; // bytes, of what a copy touches in shared memory
constexpr uint32_t kEndAlignment = 16;
constexpr uint32_t kOfTurnsMost = 1024; ///< bytes of a reduction or scan that takes turns with another one

/// A side of branches that is taken if a condition holds, or if it does not.
using Side = std::pair<Value, bool>;

/// Numbers of operations, both inclusive.
struct Span {
  unsigned begin, end;

  bool meets(Span other) const { return begin <= other.end && other.begin <= end; }
  bool holds(Span other) const { return begin <= other.begin && other.end <= end; }
};

struct Allocation {
  twg::LocalAllocOp op;
  Span span;
  uint32_t bytes, alignment, offset;
  SmallVector<Side, 1> sides; ///< where all of its uses are
  SmallVector<Span, 1> lent;  ///< where its memory is free

  /// True if one condition decides which of both is used.
  bool isAlternativeTo(const Allocation& other) const {
    return llvm::any_of(sides, [&](Side one) { return llvm::is_contained(other.sides, Side(one.first, !one.second)); });
  }
  bool isLentTo(Span other) const {
    return llvm::any_of(lent, [&](Span one) { return one.holds(other); });
  }
  bool livesWith(const Allocation& other) const {
    return span.meets(other.span) && !isAlternativeTo(other) && !isLentTo(other.span) && !other.isLentTo(span);
  }
};

/// The sides of branches in which an operation stands. Conditions that change in a loop say nothing of a producer, which may
/// be in another iteration.
SmallVector<Side, 1> sidesAround(Operation* op) {
  SmallVector<Side, 1> sides;
  for (Operation* at = op; at->getParentOp(); at = at->getParentOp()) {
    auto branch = dyn_cast<scf::IfOp>(at->getParentOp());
    if (!branch) continue;
    Operation* decided = branch.getCondition().getParentRegion()->getParentOp();
    if (isa<LoopLikeOpInterface>(decided) || decided->getParentOfType<LoopLikeOpInterface>()) continue;
    sides.emplace_back(branch.getCondition(), at->getParentRegion() == &branch.getThenRegion());
  }
  return sides;
}

Allocation sizeOf(twg::LocalAllocOp op) {
  SharedLayout layout = twg::sharedLayoutOf(op.getResult().getType());
  Allocation result{op, {0, 0}, layout.bytes(), layout.alignment(), uint32_t(op.getOffset().value_or(0)), {}, {}};
  if (twg::isCopiedByTensorUnit(op.getResult())) {
    result.alignment = std::max(result.alignment, kTensorCopyAlignment);
    result.bytes = uint32_t(llvm::alignTo(result.bytes, kTensorCopyAlignment));
  }
  return result;
}

bool isOfProducer(twg::LocalAllocOp op) {
  return llvm::any_of(twg::usersOf(op.getResult()),
                      [](Operation* user) { return user->getParentOfType<twg::ProducerOp>() != nullptr; });
}

class SharedMemory {
public:
  explicit SharedMemory(tt::FuncOp kernel) {
    kernel.walk<WalkOrder::PreOrder>([&](Operation* op) { numbers_[op] = next_++; });
    kernel.walk([&](twg::BarrierArriveOp arrive) {
      Block* block = arrive->getBlock();
      if (arrive->hasAttr(kRingsAreLent))
        lent_.push_back({numbers_[&block->front()], numbers_[block->getTerminator()]});
    });
  }
  Allocation lifeOf(twg::LocalAllocOp op) {
    Allocation result = sizeOf(op);
    Span& span = result.span;
    span.begin = span.end = numbers_[op];
    extend(op, op.getResult(), span.end);
    if (twg::isBarrier(op)) { // no one may write there before the barriers are invalidated
      span.end = next_;
      return result;
    }
    if (isOfProducer(op)) result.lent = lentOf(op);
    result.sides = sidesOf(op);
    bool isReadInFlight = llvm::any_of(twg::usersOf(op.getResult()), [&](Operation* user) {
      auto dot = dyn_cast<twg::WarpgroupDotOp>(user);
      return dot && dot.getInFlight() && dot->getBlock() == op->getBlock();
    });
    if (isReadInFlight && !isa<tt::FuncOp>(op->getParentOp())) {
      span.begin = numbers_[op->getParentOp()];
      span.end = std::max(span.end, lastNumberIn(op->getParentOp()));
    }
    return result;
  }

  bool livesAt(const Allocation& one, Operation* op) const {
    const unsigned number = numbers_.lookup(op);
    return one.span.meets({number, number}) && !one.isLentTo({number, number});
  }

private:
  /// A producer fills what the program uses, under the same conditions.
  static SmallVector<Side, 1> sidesOf(twg::LocalAllocOp op) {
    std::optional<SmallVector<Side, 1>> all;
    if (op.getSrc()) all = sidesAround(op);
    for (Operation* user : twg::usersOf(op.getResult())) {
      if (user->getParentOfType<twg::ProducerOp>()) continue;
      SmallVector<Side, 1> sides = sidesAround(user);
      if (!all) all = sides;
      llvm::erase_if(*all, [&](Side side) { return !llvm::is_contained(sides, side); });
    }
    return all.value_or(SmallVector<Side, 1>());
  }
  /// Where a producer's ring is free: the program itself does not use it there. It may load some blocks and copy others.
  SmallVector<Span, 1> lentOf(twg::LocalAllocOp op) const {
    SmallVector<Span, 1> lent(lent_.begin(), lent_.end());
    for (Operation* user : twg::usersOf(op.getResult())) {
      const unsigned number = numbers_.lookup(user);
      if (user->getParentOfType<twg::ProducerOp>()) continue;
      llvm::erase_if(lent, [&](const Span& span) { return span.meets({number, number}); });
    }
    return lent;
  }
  unsigned lastNumberIn(Operation* outer) const {
    unsigned last = 0;
    outer->walk([&](Operation* op) { last = std::max(last, numbers_.lookup(op)); });
    return last;
  }
  void extend(Operation* allocation, Value memory, unsigned& end) {
    for (Operation* user : memory.getUsers()) {
      if (isa<twg::MemDescIndexOp, twg::MemDescViewOp>(user)) extend(allocation, user->getResult(0), end);
      Operation* outer = allocation->getBlock()->findAncestorOpInBlock(*user);
      if (!outer) { // another block of the function: it lives to the end
        end = next_;
        continue;
      }
      // A branch ends with its last use, also for what stands in the other branch, which does not run then.
      Operation* last = user;
      for (Operation* at = user; at != outer; at = at->getParentOp())
        if (!isa<scf::IfOp>(at->getParentOp())) last = at->getParentOp();
      end = std::max(end, lastNumberIn(last));
    }
  }
  llvm::DenseMap<Operation*, unsigned> numbers_;
  unsigned next_ = 0;
  SmallVector<Span> lent_; ///< where the producer's rings are free
};

/// Where what comes behind it may begin.
uint32_t endOf(const Allocation& one) { return uint32_t(llvm::alignTo(one.offset + one.bytes, kEndAlignment)); }

void place(Allocation& one, ArrayRef<Allocation> placed) {
  for (bool moved = true; moved;) {
    moved = false;
    for (const Allocation& other : placed)
      if (one.livesWith(other) && one.offset < other.offset + other.bytes && other.offset < one.offset + one.bytes) {
        one.offset = uint32_t(llvm::alignTo(other.offset + other.bytes, one.alignment));
        moved = true;
      }
  }
}

} // namespace

uint32_t halfOfSharedMemory(const Target& target) { return target.features().sharedKilobytesMost * 1024 / 2; }

SharedRange rangeOf(twg::LocalAllocOp allocation) {
  uint32_t offset = uint32_t(allocation.getOffset().value_or(0));
  return {offset, offset + twg::sharedLayoutOf(allocation.getResult().getType()).bytes()};
}
SharedRange rangeOf(twg::ScratchAttr scratch) {
  return {scratch.getOffset(), scratch.getOffset() + scratch.getBytes()};
}

void assignSharedMemory(tt::FuncOp kernel, const Target& target, ThreadBits threads) {
  SharedMemory memory(kernel);
  SmallVector<Allocation> all;
  kernel.walk([&](twg::LocalAllocOp op) { all.push_back(memory.lifeOf(op)); });
  llvm::stable_sort(all, [](const Allocation& a, const Allocation& b) {
    return std::pair(isOfProducer(a.op), a.bytes) > std::pair(isOfProducer(b.op), b.bytes);
  });
  for (auto [i, one] : llvm::enumerate(all)) {
    one.offset = 0;
    place(one, ArrayRef<Allocation>(all).take_front(i));
    one.op.setOffset(one.offset);
  }
  SharedRange last; // of a reduction or scan
  kernel.walk([&](Operation* op) {
    std::optional<Scratch> needed = scratchNeededBy(op, target, threads);
    setScratch(op, {});
    if (!needed) return;
    auto lives = llvm::make_filter_range(all, [&](const Allocation& one) { return memory.livesAt(one, op); });
    uint32_t offset = 0; // the lowest that is free: barriers live to the kernel's end, behind memory that does not
    // Two that follow each other have two places, so that the second need not wait for the readers of the first.
    const bool takesTurns = firstBarrierIsOptional(op) && lives.empty() && needed->bytes <= kOfTurnsMost;
    if (takesTurns && last.meets({0, needed->bytes})) offset = uint32_t(llvm::alignTo(last.end, kEndAlignment));
    if (firstBarrierIsOptional(op)) last = {offset, offset + needed->bytes};
    for (bool moved = true; moved;) {
      moved = false;
      for (const Allocation& one : lives)
        if (offset < endOf(one) && one.offset < offset + needed->bytes) offset = endOf(one), moved = true;
    }
    setScratch(op, twg::ScratchAttr::get(op->getContext(), offset, needed->bytes, needed->barriers));
  });
}

LogicalResult verifySharedMemory(tt::FuncOp kernel, const Target& target, ThreadBits threads) {
  SharedMemory memory(kernel);
  SmallVector<Allocation> all;
  kernel.walk([&](twg::LocalAllocOp op) { all.push_back(memory.lifeOf(op)); });
  auto visit = [&](Operation* op) -> WalkResult {
    auto meets = [&](SharedRange range, auto livesWith) -> LogicalResult {
      for (const Allocation& other : all)
        if (other.op != op && livesWith(other) && range.meets({other.offset, other.offset + other.bytes}))
          return op->emitOpError() << "uses bytes " << range.begin << " to " << range.end
                                   << " of shared memory, where another allocation lives";
      return success();
    };
    if (auto allocation = dyn_cast<twg::LocalAllocOp>(op)) {
      if (!allocation.getOffset()) return op->emitOpError("has no offset in shared memory");
      Allocation one = memory.lifeOf(allocation);
      if (one.offset % one.alignment)
        return op->emitOpError() << "needs an offset that " << one.alignment << " divides";
      if (failed(meets({one.offset, one.offset + one.bytes}, [&](auto& other) { return one.livesWith(other); })))
        return WalkResult::interrupt();
    }
    std::optional<Scratch> needed = scratchNeededBy(op, target, threads);
    twg::ScratchAttr given = scratchOf(op);
    if (!needed && !given) return WalkResult::advance();
    if (!needed) return op->emitOpError("has a twg.scratch, but its elements stay in their warps");
    const unsigned least = needed->barriers - firstBarrierIsOptional(op);
    if (!given || given.getBytes() != needed->bytes || given.getBarriers() > needed->barriers ||
        given.getBarriers() < least)
      return op->emitOpError() << "needs twg.scratch of " << needed->bytes << " bytes with " << needed->barriers
                               << " barriers inside";
    return failed(meets(rangeOf(given), [&](auto& other) { return memory.livesAt(other, op); }))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  return failure(kernel.walk<WalkOrder::PreOrder>(visit).wasInterrupted());
}

bool hasRoomForAllTiles(tt::FuncOp kernel, const Target& target, uint32_t ctas, uint32_t beside) {
  uint32_t bytes = beside;
  kernel.walk([&](twg::LocalAllocOp memory) { bytes += twg::sharedLayoutOf(memory.getResult().getType()).bytes(); });
  return bytes <= target.features().sharedKilobytesMost * 1024 / ctas;
}

uint32_t sharedBytesOf(tt::FuncOp kernel) {
  uint32_t bytes = 0;
  kernel.walk([&](Operation* op) {
    if (auto allocation = dyn_cast<twg::LocalAllocOp>(op)) bytes = std::max(bytes, endOf(sizeOf(allocation)));
    if (twg::ScratchAttr scratch = scratchOf(op)) bytes = std::max(bytes, rangeOf(scratch).end);
  });
  return bytes;
}

} // namespace tiletwin::codegen
