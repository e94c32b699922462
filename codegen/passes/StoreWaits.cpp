// codegen/passes/StoreWaits.cpp -- see StoreWaits.h.
#include "codegen/passes/StoreWaits.h"
#include "codegen/passes/Barriers.h"
#include "codegen/passes/Producer.h"
#include "codegen/passes/Scratch.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

/// The bytes that a store reads.
SharedRange rangeReadBy(twg::TensorStoreOp store) { return rangeOf(twg::allocationOf(store.getSrc())); }

/// True if an operation, or one inside it, may write these bytes of shared memory.
bool touches(Operation* op, SharedRange range) {
  auto visit = [&](Operation* inner) {
    twg::LocalAllocOp memory = llvm::TypeSwitch<Operation*, twg::LocalAllocOp>(inner)
                                   .Case([](twg::LocalAllocOp allocation) { return allocation; })
                                   .Case<twg::LocalStoreOp, twg::TensorLoadOp, twg::AsyncCopyOp>(
                                       [](auto fill) { return twg::allocationOf(fill.getDst()); })
                                   .Default([](Operation*) { return twg::LocalAllocOp(); });
    twg::ScratchAttr scratch = scratchOf(inner);
    const bool meets = (memory && rangeOf(memory).meets(range)) || (scratch && rangeOf(scratch).meets(range));
    return meets ? WalkResult::interrupt() : WalkResult::advance();
  };
  return op->walk(visit).wasInterrupted();
}

/// True if the kernel loads anything through the argument that the store writes through, or it is not known through which.
bool isReadBack(twg::TensorStoreOp store) {
  auto kernel = store->getParentOfType<tt::FuncOp>();
  return kernel
      .walk([&](Operation* op) {
        Value from = llvm::TypeSwitch<Operation*, Value>(op)
                         .Case<tt::DescriptorLoadOp, tt::DescriptorGatherOp, twg::TensorLoadOp>(
                             [](auto load) { return load.getDesc(); })
                         .Default([](Operation*) { return Value(); });
        return from == store.getDesc() ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The nearest barrier in front of an operation, behind another one (null: the block's begin).
Operation* barrierBetween(Operation* from, Operation* to) {
  for (Operation* op = to->getPrevNode(); op != from; op = op->getPrevNode())
    if (isBarrier(op)) return op;
  return nullptr;
}

twg::TensorWaitOp makeWait(OpBuilder& builder, Location where) {
  return twg::TensorWaitOp::create(builder, where, 0, Value());
}

/// Puts the wait in front of the barrier behind which the store's memory is written again: in this iteration or the next
/// one. False if there is no such barrier.
bool waitLater(twg::TensorStoreOp store, Operation* commit) {
  auto loop = dyn_cast<scf::ForOp>(store->getParentOp());
  if (!loop || !producerOf(store->getParentOfType<tt::FuncOp>()) || isReadBack(store)) return false;
  const SharedRange range = rangeReadBy(store);
  auto findWriter = [&](Operation* op, Operation* end) {
    while (op != end && !touches(op, range)) op = op->getNextNode();
    return op != end ? op : nullptr;
  };
  Block* body = loop.getBody();
  OpBuilder builder(loop.getContext());
  if (Operation* writer = findWriter(commit->getNextNode(), nullptr)) {
    Operation* barrier = barrierBetween(commit, writer);
    if (!barrier) return false;
    builder.setInsertionPoint(barrier);
    makeWait(builder, store.getLoc());
    return true;
  }
  Operation* writer = findWriter(&body->front(), store);
  Operation* barrier = writer ? barrierBetween(nullptr, writer) : nullptr;
  if (!barrier) return false;
  auto isWait = [](Operation* op) { return isa_and_nonnull<twg::TensorWaitOp>(op); };
  builder.setInsertionPoint(barrier);
  if (!isWait(barrier->getPrevNode())) makeWait(builder, store.getLoc());
  builder.setInsertionPointAfter(loop);
  if (!isWait(loop->getNextNode())) makeWait(builder, store.getLoc());
  return true;
}

} // namespace

void groupStores(tt::FuncOp kernel) {
  OpBuilder builder(kernel.getContext());
  kernel.walk([&](twg::TensorStoreOp store) {
    builder.setInsertionPointAfter(store);
    Operation* commit = twg::TensorCommitOp::create(builder, store.getLoc(), store.getIssuer());
    if (!waitLater(store, commit)) twg::TensorWaitOp::create(builder, store.getLoc(), 0, store.getIssuer());
  });
}

LogicalResult verifyStoreWaitedFor(twg::TensorStoreOp store) {
  Operation* commit = store;
  while (commit && !isa<twg::TensorCommitOp>(commit)) commit = commit->getNextNode();
  if (!commit)
    return store.emitOpError() << "is part of no group: no " << twg::TensorCommitOp::getOperationName() << " follows";
  const SharedRange range = rangeReadBy(store);
  bool isWaited = false;
  // True where a barrier tells all threads; false where the memory is written before.
  auto look = [&](Operation* op, Operation* end) -> std::optional<bool> {
    for (; op != end; op = op->getNextNode()) {
      if (auto wait = dyn_cast<twg::TensorWaitOp>(op)) isWaited |= wait.getPending() == 0;
      if (isWaited && isBarrier(op)) return true;
      if (touches(op, range)) return false;
    }
    return std::nullopt;
  };
  auto fail = [&]() {
    return store.emitOpError() << "is on its way when its shared memory is used again: no "
                               << twg::TensorWaitOp::getOperationName() << " and barrier stand in between";
  };
  std::optional<bool> found = look(commit, nullptr);
  if (found) return *found ? success() : fail();
  if (isWaited) return success(); // what follows is behind a barrier, because blocks meet
  auto loop = dyn_cast<scf::ForOp>(store->getParentOp());
  if (!loop) return fail();
  Operation* behind = loop->getNextNode();
  while (behind && isMemoryEffectFree(behind) && behind->getNumRegions() == 0) behind = behind->getNextNode();
  if (!isa_and_nonnull<twg::TensorWaitOp>(behind))
    return loop.emitOpError() << "ends while a store is on its way, and no " << twg::TensorWaitOp::getOperationName()
                              << " stands behind";
  found = look(&loop.getBody()->front(), store);
  return found && *found ? success() : fail();
}

} // namespace tiletwin::codegen
