// codegen/passes/MovedLoads.cpp -- see MovedLoads.h.
#include "codegen/passes/MovedLoads.h"
#include "codegen/dialect/TWG.h"
#include "codegen/passes/HeldOperands.h"
#include "codegen/passes/Producer.h"
#include "codegen/passes/TensorCopies.h"
#include "codegen/passes/WrittenMemory.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

constexpr unsigned kMostWords = 64; ///< of loads on their way while a loop runs

/// What the load's addresses are computed from behind `place`, in order; none if they come from memory or from a loop.
std::optional<SmallVector<Operation*>> sliceBehind(Operation* place, tt::LoadOp load) {
  llvm::SetVector<Operation*> needed;
  SmallVector<Value> wanted(load->getOperands());
  while (!wanted.empty()) {
    Operation* op = wanted.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != place->getBlock() || op->isBeforeInBlock(place)) continue;
    if (op->getNumRegions() || !isMemoryEffectFree(op)) return std::nullopt;
    if (needed.insert(op)) llvm::append_range(wanted, op->getOperands());
  }
  SmallVector<Operation*> inOrder(needed.begin(), needed.end());
  llvm::sort(inOrder, [](Operation* a, Operation* b) { return a->isBeforeInBlock(b); });
  return inOrder;
}

/// The nearest operation in front of the load, in its block, that is a loop or has one; null: there is none.
Operation* loopInFrontOf(tt::LoadOp load) {
  auto isLoop = [](Operation* op) { return WalkResult(failure(isa<LoopLikeOpInterface>(op))); };
  Operation* op = load->getPrevNode();
  while (op && !op->walk(isLoop).wasInterrupted()) op = op->getPrevNode();
  return op;
}

/// Registers that a thread has left where the loops of `op` need most of them.
unsigned registersBeside(Operation* op, const Target& target, const Options& options) {
  const unsigned most = registersOfThread(target, options);
  unsigned needed = 0;
  op->walk([&](scf::ForOp loop) { needed = std::max(needed, mostWordsOfTiles(loop, /*isInPieces=*/true)); });
  needed += kRegistersBesideTiles;
  return needed < most ? most - needed : 0;
}

} // namespace

unsigned wordsOf(tt::LoadOp load) {
  mlir::Type element = tt::elementTypeOf(load.getType());
  const unsigned bits = isa<tt::PointerType>(element) ? 64 : element.getIntOrFloatBitWidth();
  return (twg::layoutOf(load.getResult()).registers() * bits + 31) / 32;
}

bool mayNotPass(tt::LoadOp load, Operation* first, Operation* last) {
  const bool isWritten = mayBeWritten(load.getPtr());
  auto mayWrite = [&](Operation* op) {
    if (isa<tt::AssertOp, tt::PrintOp>(op))
      return WalkResult::interrupt(); // a load that it tells of may end the kernel
    const bool isWrite = mayExposeWrites(op) || isa<twg::TensorStoreOp, ttg::BarrierOp>(op);
    return WalkResult(failure(isWrite && (isWritten || !isa<tt::StoreOp, ttg::BarrierOp>(op))));
  };
  for (Operation* op = first; op != last; op = op->getNextNode())
    if (op->walk(mayWrite).wasInterrupted()) return true;
  return false;
}

bool canComputeAt(tt::LoadOp load, Operation* place) { return sliceBehind(place, load).has_value(); }

bool moveUp(tt::LoadOp load, Operation* place) {
  const std::optional<SmallVector<Operation*>> slice = sliceBehind(place, load);
  if (!slice) return false;
  for (Operation* op : *slice) op->moveBefore(place);
  load->moveBefore(place);
  return true;
}

void loadInFrontOfLoops(tt::FuncOp kernel, const Target& target, const Options& options) {
  if (!options.isAlone || producerOf(kernel)) return;
  SmallVector<tt::LoadOp> loads;
  kernel.walk([&](tt::LoadOp load) {
    if (isa<RankedTensorType>(load.getType()) && !load.getIsVolatile()) loads.push_back(load);
  });
  llvm::SmallDenseMap<Operation*, unsigned> room;
  for (tt::LoadOp load : loads) {
    Operation* loop = loopInFrontOf(load);
    if (!loop || mayBeWritten(load.getPtr()) || mayNotPass(load, loop, load)) continue;
    auto [left, isNew] = room.try_emplace(loop, 0);
    if (isNew) left->second = std::min(registersBeside(loop, target, options), kMostWords);
    if (wordsOf(load) <= left->second && moveUp(load, loop)) left->second -= wordsOf(load);
  }
}

} // namespace tiletwin::codegen
