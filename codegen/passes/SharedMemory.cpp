// codegen/passes/SharedMemory.cpp -- see SharedMemory.h.
// Idea: operations are numbered in program order; an allocation lives from its operation to its last use, and to the end
//       of every loop that the use, but not the allocation, is in. What a product in flight reads lives for all of the
//       loop, because it is waited for in the next iteration. Larger ones are placed first, each at the lowest place
//       that is free for as long as it lives.
#include "codegen/passes/SharedMemory.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

constexpr uint32_t kTensorCopyAlignment = 128; // bytes, of what a copy touches in shared memory

struct Allocation {
  twg::LocalAllocOp op;
  unsigned begin, end; ///< numbers of operations, both inclusive
  uint32_t bytes, alignment, offset;

  bool livesWith(const Allocation& other) const { return begin <= other.end && other.begin <= end; }
};

class SharedMemory {
public:
  explicit SharedMemory(tt::FuncOp kernel) {
    kernel.walk<WalkOrder::PreOrder>([&](Operation* op) { numbers_[op] = next_++; });
  }
  Allocation lifeOf(twg::LocalAllocOp op) {
    twg::MemDescType type = op.getResult().getType();
    SharedLayout layout = twg::sharedLayoutOf(type);
    Allocation result{op, numbers_[op], numbers_[op], layout.bytes(), layout.alignment(), 0};
    extend(op, op.getResult(), result.end);
    if (twg::isBarrier(op)) result.end = next_; // whoever writes there later would have to invalidate them
    if (twg::isCopiedByTensorUnit(op.getResult())) {
      result.alignment = std::max(result.alignment, kTensorCopyAlignment);
      result.bytes = uint32_t(llvm::alignTo(result.bytes, kTensorCopyAlignment));
    }
    bool isReadInFlight = llvm::any_of(op->getUsers(), [&](Operation* user) {
      auto dot = dyn_cast<twg::WarpgroupDotOp>(user);
      return dot && dot.getInFlight() && dot->getBlock() == op->getBlock();
    });
    if (isReadInFlight && !isa<tt::FuncOp>(op->getParentOp())) {
      result.begin = numbers_[op->getParentOp()];
      result.end = std::max(result.end, lastNumberIn(op->getParentOp()));
    }
    return result;
  }

  llvm::DenseMap<Operation*, unsigned> takeNumbers() { return std::move(numbers_); }

private:
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
      end = std::max(end, lastNumberIn(outer));
    }
  }
  llvm::DenseMap<Operation*, unsigned> numbers_;
  unsigned next_ = 0;
};

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

uint32_t SharedPlaces::endAt(Operation* op) const {
  unsigned number = numbers_.lookup(op);
  uint32_t end = 0;
  for (const Life& life : lives_)
    if (life.begin <= number && number <= life.end) end = std::max(end, life.last);
  return end;
}

uint32_t halfOfSharedMemory(const Target& target) { return target.features().sharedKilobytesMost * 1024 / 2; }

SharedPlaces assignSharedMemory(tt::FuncOp kernel) {
  SharedMemory memory(kernel);
  SmallVector<Allocation> all;
  kernel.walk([&](twg::LocalAllocOp op) { all.push_back(memory.lifeOf(op)); });
  llvm::stable_sort(all, [](const Allocation& a, const Allocation& b) { return a.bytes > b.bytes; });
  SharedPlaces places;
  Builder builder(kernel.getContext());
  for (auto [i, one] : llvm::enumerate(all)) {
    place(one, ArrayRef<Allocation>(all).take_front(i));
    one.op.setOffset(one.offset);
    uint32_t last = uint32_t(llvm::alignTo(one.offset + one.bytes, 16));
    places.lives_.push_back({one.begin, one.end, last});
    places.bytes_ = std::max(places.bytes_, last);
  }
  places.numbers_ = memory.takeNumbers();
  return places;
}

} // namespace tiletwin::codegen
