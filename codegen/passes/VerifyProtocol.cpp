// codegen/passes/VerifyProtocol.cpp -- see VerifyProtocol.h.
#include "codegen/passes/VerifyProtocol.h"
#include "codegen/dialect/TWG.h"
#include "codegen/passes/Barriers.h"
#include "codegen/passes/LoopSlice.h"
#include "codegen/passes/Pairs.h"
#include "codegen/passes/Producer.h"
#include "codegen/passes/SharedMemory.h"
#include "codegen/passes/StoreWaits.h"
#include "codegen/passes/TensorSums.h"
#include "codegen/passes/Turns.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

/// One of several buffers, or of several barriers.
struct Slot {
  twg::LocalAllocOp memory;
  Value number; ///< null: there is one

  explicit Slot(Value of) : memory(twg::allocationOf(of)) {
    while (auto view = of.getDefiningOp<twg::MemDescViewOp>()) of = view.getSrc();
    if (auto index = of.getDefiningOp<twg::MemDescIndexOp>()) number = index.getIndex();
  }
  bool operator==(const Slot& other) const { return memory == other.memory && number == other.number; }
  int64_t count() const {
    twg::LocalAllocOp allocation = memory;
    return number ? allocation.getResult().getType().getShape().front() : 1;
  }
};

/// The nearest operation in front of `op` that the predicate holds for: in its block, then around it.
template <class Predicate> Operation* findBefore(Operation* op, Predicate holds) {
  for (; op && !isa<tt::FuncOp>(op); op = op->getParentOp())
    for (Operation* at = op->getPrevNode(); at; at = at->getPrevNode())
      if (holds(at)) return at;
  return nullptr;
}

template <class Op> int64_t countBetween(Operation* from, Operation* to) {
  int64_t count = 0;
  for (; from && from != to; from = from->getNextNode()) count += isa<Op>(from);
  return count;
}

/// How many iterations of their loop after a slot was filled it is read; none if the loop does not carry both numbers.
std::optional<int64_t> iterationsBetween(Value filled, Value read, int64_t slots) {
  auto firstOf = [](Value number, llvm::APInt& first) -> Operation* {
    auto argument = dyn_cast_if_present<BlockArgument>(number);
    auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
    if (!loop || argument.getArgNumber() == 0) return nullptr;
    return matchPattern(loop.getTiedLoopInit(argument)->get(), m_ConstantInt(&first)) ? loop : nullptr;
  };
  llvm::APInt firstFilled, firstRead;
  Operation *loop = firstOf(filled, firstFilled), *other = firstOf(read, firstRead);
  if (!loop || loop != other) return std::nullopt;
  return (firstFilled.getSExtValue() - firstRead.getSExtValue() + slots) % slots;
}

/// Of the memory that an operation reads; none if it reads none.
SmallVector<Value, 2> memoryReadBy(Operation* op) {
  SmallVector<Value, 2> all;
  llvm::TypeSwitch<Operation*>(op)
      .Case<twg::LocalLoadOp, twg::TensorStoreOp>([&](auto one) { all.push_back(one.getSrc()); })
      .Case<twg::WarpgroupDotOp, twg::TmemDotOp>([&](auto dot) { all.assign({dot.getA(), dot.getB()}); });
  llvm::erase_if(all, [](Value value) { return !isa<twg::MemDescType>(value.getType()); });
  return all;
}

/// What an operation fills; null if it fills nothing.
Value memoryFilledBy(Operation* op) {
  return llvm::TypeSwitch<Operation*, Value>(op)
      .Case<twg::AsyncCopyOp, twg::LocalStoreOp, twg::TensorLoadOp>([](auto one) { return one.getDst(); })
      .Default([](Operation*) { return Value(); });
}

template <class Commit> LogicalResult verifyGroup(Operation* begun) {
  if (countBetween<Commit>(begun, nullptr)) return success();
  return begun->emitOpError() << "is part of no group: no " << Commit::getOperationName() << " follows";
}

/// What is not in flight is waited for before the next barrier, behind which its memory may be used again.
template <class Commit, class Wait> LogicalResult verifyWaitedFor(Operation* begun) {
  if (failed(verifyGroup<Commit>(begun))) return failure();
  std::optional<int64_t> younger;
  for (Operation* op = begun->getNextNode(); op && !isBarrier(op); op = op->getNextNode()) {
    if (isa<Commit>(op)) younger = younger ? *younger + 1 : 0;
    if (auto wait = dyn_cast<Wait>(op); wait && younger && wait.getPending() <= *younger) return success();
  }
  return begun->emitOpError() << "is on its way when the next barrier is reached: no " << Wait::getOperationName()
                              << " for its group stands in between";
}

/// Threads other than the one that began stores know nothing of them.
LogicalResult verifyIssuer(Operation* op, Value issuer) {
  if (!issuer || issuer.getDefiningOp<twg::TensorStoreOp>()) return success();
  return op->emitOpError("needs the thread that began the stores: the result of a twg.tensor_store");
}

LogicalResult verifyProduct(twg::WarpgroupDotOp dot) {
  auto fence = dot.getC().getDefiningOp<twg::WarpgroupFenceOp>();
  bool isFenced = fence && dot.getC() == fence.getResult(0);
  if (Value first = dot.first().get(); isa<RankedTensorType>(first.getType()))
    isFenced &= fence && fence.getNumResults() > 1 && first == fence.getResult(1);
  if (!isFenced) return dot.emitOpError("reads registers that went through no twg.warpgroup_fence of its own");
  if (dot.getInFlight()) return verifyGroup<twg::WarpgroupCommitOp>(dot);
  for (Operation* user : dot->getUsers())
    if (auto wait = dyn_cast<twg::WarpgroupWaitOp>(user); !wait || wait.getPending())
      return dot.emitOpError() << "has a sum that " << user->getName() << " uses before twg.warpgroup_wait 0";
  return verifyWaitedFor<twg::WarpgroupCommitOp, twg::WarpgroupWaitOp>(dot);
}

/// The groups in front of a loop from which its first iterations read, one for each of them. Other rings, filled in the same
/// iteration, have groups too, but need none here. Behind the last wait all groups count: an earlier one may be that of another
/// loop. A loop around this one may wait in between, so what fills this memory counts there, too.
int64_t groupsInFrontOf(Operation* loop, twg::LocalAllocOp memory) {
  int64_t groups = 0;
  bool isWaitedFor = false, isCounted = true;
  for (Operation* op = loop->getPrevNode(); op; op = op->getPrevNode()) {
    isWaitedFor |= isa<twg::AsyncWaitOp>(op);
    if (isa<twg::AsyncCommitOp>(op)) isCounted = !isWaitedFor, groups += isCounted;
    auto copy = dyn_cast<twg::AsyncCopyOp>(op);
    if (copy && !isCounted && Slot(copy.getDst()).memory == memory) isCounted = true, ++groups;
  }
  return groups;
}

/// The wait in front of a reader may leave groups on their way, but not the group that brings what is read.
LogicalResult verifyGroupsWaitedFor(Operation* reader, Slot slot, twg::AsyncCopyOp copy) {
  auto wait =
      cast_if_present<twg::AsyncWaitOp>(findBefore(reader, [](Operation* op) { return isa<twg::AsyncWaitOp>(op); }));
  if (!wait) return reader->emitOpError("reads what copies bring, and no twg.async_wait stands in front");
  std::optional<int64_t> ahead = iterationsBetween(Slot(copy.getDst()).number, slot.number, slot.count());
  if (!ahead || copy->getBlock() != wait->getBlock() || *ahead == 0) return success();
  Block* body = copy->getBlock();
  const int64_t perIteration = countBetween<twg::AsyncCommitOp>(&body->front(), nullptr);
  const int64_t behindCopy = countBetween<twg::AsyncCommitOp>(copy, nullptr) - 1;
  const int64_t inFront = countBetween<twg::AsyncCommitOp>(&body->front(), wait);
  const int64_t younger = behindCopy + (*ahead - 1) * perIteration + inFront;
  if (wait.getPending() > younger)
    return wait.emitOpError() << "leaves " << wait.getPending()
                              << " groups on their way; what is read next is among the last " << younger + 1;
  Operation* loop = body->getParentOp();
  const int64_t begun = groupsInFrontOf(loop, slot.memory);
  const int64_t needed = std::max<int64_t>(*ahead, wait.getPending() - inFront + 1);
  if (begun >= needed) return success();
  return loop->emitOpError() << "reads slots that " << needed
                             << " groups fill before it begins; twg.async_commit makes " << begun;
}

LogicalResult verifyArrival(twg::TensorLoadOp load) {
  Slot barrier(load.getBarrier());
  for (Operation* op = load->getPrevNode(); op; op = op->getPrevNode())
    if (auto expect = dyn_cast<twg::BarrierExpectOp>(op); expect && Slot(expect.getBarrier()) == barrier)
      return success();
  return load.emitOpError("arrives on a barrier that no twg.barrier_expect in front tells of its bytes");
}

/// The barrier of the slot that a producer's copy fills, which it waits for until the slot is free; null if it does not.
twg::BarrierWaitOp waitForFreeSlot(twg::TensorLoadOp load) {
  Slot slot(load.getDst());
  for (Operation* op = load->getPrevNode(); op; op = op->getPrevNode())
    if (auto wait = dyn_cast<twg::BarrierWaitOp>(op);
        wait && wait.getFree() && Slot(wait.getBarrier()).number == slot.number)
      return wait;
  return {};
}

/// True for a branch that tells the other CTA of a pair that this one's slot is free, and waits until it is told the same.
bool meetsOtherCta(Operation* op, Value number) {
  auto branch = dyn_cast<scf::IfOp>(op);
  if (!branch) return false;
  for (auto arrive : branch.thenBlock()->getOps<twg::PairArriveOp>()) {
    const Slot slot(arrive.getBarrier());
    for (Operation* behind = arrive; behind; behind = behind->getNextNode())
      if (auto wait = dyn_cast<twg::BarrierWaitOp>(behind); wait && Slot(wait.getBarrier()) == slot)
        return slot.number == number;
  }
  return false;
}

/// What is copied to both CTAs of a pair comes behind their meeting, in front of which each one's slot is free and its barrier
/// expects the bytes.
LogicalResult verifyShared(twg::TensorLoadOp load) {
  if (!load.getTurn()) return success();
  if (!load->getParentOfType<twg::ProducerOp>() || !runsInPairs(load->getParentOfType<tt::FuncOp>()))
    return load.emitOpError("with a turn is for the producer of a kernel whose CTAs run in pairs (twg.pairs)");
  const Slot slot(load.getDst()), barrier(load.getBarrier());
  Operation* op = load->getPrevNode();
  while (op && !meetsOtherCta(op, slot.number)) op = op->getPrevNode();
  auto isExpected = [&](Operation* at) {
    auto expect = dyn_cast<twg::BarrierExpectOp>(at);
    return expect && Slot(expect.getBarrier()) == barrier;
  };
  while (op && !isExpected(op)) op = op->getPrevNode();
  auto wait = op ? waitForFreeSlot(load) : twg::BarrierWaitOp();
  if (wait && wait->isBeforeInBlock(op)) return success();
  return load.emitOpError(
      "may copy to another CTA, and no twg.pair_arrive with a wait for that CTA's stands behind its "
      "twg.barrier_expect");
}

LogicalResult verifyExpected(twg::BarrierExpectOp expect) {
  Slot barrier(expect.getBarrier());
  uint32_t bytes = 0;
  for (Operation* op = expect->getNextNode(); op; op = op->getNextNode()) {
    if (auto next = dyn_cast<twg::BarrierExpectOp>(op); next && Slot(next.getBarrier()) == barrier) break;
    if (auto load = dyn_cast<twg::TensorLoadOp>(op); load && Slot(load.getBarrier()) == barrier)
      bytes += twg::sharedLayoutOf(load.getDst().getType()).bytes();
  }
  if (bytes == expect.getBytes()) return success();
  return expect.emitOpError() << "expects " << expect.getBytes() << " bytes; the copies that arrive bring " << bytes;
}

/// The word that phases begin with, where loops alone carry it.
std::optional<int64_t> firstWord(Value phases) {
  while (auto argument = dyn_cast<BlockArgument>(phases)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument.getArgNumber() == 0) return std::nullopt;
    phases = loop.getTiedLoopInit(argument)->get();
  }
  llvm::APInt first;
  return matchPattern(phases, m_ConstantInt(&first)) ? std::optional(first.getSExtValue()) : std::nullopt;
}

LogicalResult verifyPhase(twg::BarrierWaitOp wait) {
  Slot barrier(wait.getBarrier());
  auto phase = wait.getPhase() ? wait.getPhase().getDefiningOp<twg::PhaseOp>() : twg::PhaseOp();
  if (!phase || phase.getIndex() != barrier.number)
    return wait.emitOpError("needs the phase of its barrier: twg.phase of the barrier's number");
  // Barriers whose words are equal so far may have one, and so may the two ways of a branch.
  auto endsItToo = [&](Operation* user) {
    auto other = dyn_cast<twg::BarrierWaitOp>(user);
    return other && other != wait && Slot(other.getBarrier()).memory == barrier.memory &&
           !insideMutuallyExclusiveRegions(wait, other);
  };
  for (Operation* user : phase.getPhases().getUsers())
    if (auto other = dyn_cast<twg::PhaseOp>(user); other && other.getIndex() == barrier.number)
      if (llvm::any_of(other->getUsers(), endsItToo))
        return wait.emitOpError("ends a phase that another wait ends too: twg.next_phase stands between them");
  auto loop = wait->getParentOfType<LoopLikeOpInterface>();
  const std::optional<int64_t> first = firstWord(phase.getPhases());
  if (first && *first != (wait.getFree() ? -1 : 0))
    return wait.emitOpError() << "begins with phases " << *first << (wait.getFree() ? "; free, it" : "; it")
                              << " begins with " << (wait.getFree() ? -1 : 0);
  const bool isCarried = !loop || loop->isAncestor(phase.getPhases().getParentRegion()->getParentOp());
  if (isCarried) return success();
  return wait.emitOpError("ends a phase once more: twg.next_phase of the wait before makes the next one's");
}

/// What the tensor unit brings to a slot is there behind a wait for the barrier that it arrives on.
LogicalResult verifyArrivalWaitedFor(Operation* reader, Slot slot, twg::TensorLoadOp load) {
  Slot arrival(load.getBarrier());
  Operation* wait = findBefore(reader, [&](Operation* op) {
    auto wait = dyn_cast<twg::BarrierWaitOp>(op);
    if (!wait) return false;
    Slot barrier(wait.getBarrier());
    return barrier.memory == arrival.memory && (!slot.number || !barrier.number || slot.number == barrier.number);
  });
  if (wait) return success();
  return reader->emitOpError(
      "reads what tensor copies bring, and no twg.barrier_wait for their barrier stands in front");
}

/// What threads store to a slot others see behind a barrier.
LogicalResult verifyStored(Operation* reader, Slot slot, twg::LocalStoreOp store) {
  if (!slot.number || store->getBlock() != reader->getBlock() || !store->isBeforeInBlock(reader)) return success();
  for (Operation* op = reader->getPrevNode(); op != store; op = op->getPrevNode())
    if (isBarrier(op)) return success();
  return reader->emitOpError("reads a slot that threads have stored to, and no barrier stands in between");
}

/// A slot is filled again behind a barrier that its last readers have reached.
LogicalResult verifyRefilled(Operation* reader, Slot slot, Operation* filler) {
  Slot filled(memoryFilledBy(filler));
  std::optional<int64_t> ahead = iterationsBetween(filled.number, slot.number, slot.count());
  if (!ahead) return success();
  const bool isOfLastIteration = slot.count() - *ahead == 1;
  Block* body = filler->getBlock();
  for (Operation& op : *body) {
    if (isOfLastIteration && &op == filler) break;
    if (isBarrier(&op)) return success();
  }
  return filler->emitOpError("fills a slot that threads may still read, and no barrier of the loop stands in between");
}

/// True if a wait that leaves no group but those begun behind the product stands between the two.
bool isWaitedForBetween(Operation* product, Operation* end) {
  unsigned groups = 0; // the product's own, and those behind it
  for (Operation* op = product; op && op != end; op = op->getNextNode()) {
    groups += isa<twg::WarpgroupCommitOp>(op);
    if (auto wait = dyn_cast<twg::WarpgroupWaitOp>(op); wait && wait.getPending() < groups)
      return end->getBlock() == op->getBlock();
  }
  return false;
}

/// True for a slot of a loop around `loop` if products in it are waited for behind `loop`, and the slot is given back behind that.
bool isReadInLoopInside(Operation* loop, Slot slot, ArrayRef<twg::BarrierArriveOp> arrivals) {
  Block* around = slot.number ? slot.number.getParentBlock() : nullptr;
  if (arrivals.empty() || !around || loop->isAncestor(around->getParentOp())) return false;
  Operation* wait = loop->getNextNode();
  while (wait && !isa<twg::WarpgroupWaitOp>(wait)) wait = wait->getNextNode();
  if (!wait || cast<twg::WarpgroupWaitOp>(wait).getPending()) return false;
  return llvm::all_of(arrivals, [&](twg::BarrierArriveOp arrive) {
    if (Slot(arrive.getBarrier()).number != slot.number) return true;
    if (arrive->getBlock() == wait->getBlock()) return wait->isBeforeInBlock(arrive);
    Operation *here = around->findAncestorOpInBlock(*arrive), *waited = around->findAncestorOpInBlock(*wait);
    return here && waited && waited->isBeforeInBlock(here);
  });
}

/// A product in flight is done with its slot in the next iteration, behind a wait that leaves only that one's products, and
/// behind the loop; with a slot of a loop around that one, behind it.
LogicalResult verifyReleasedLater(twg::WarpgroupDotOp dot, Slot slot, ArrayRef<twg::BarrierArriveOp> arrivals) {
  Block* body = dot->getBlock();
  if (isReadInLoopInside(body->getParentOp(), slot, arrivals)) return success();
  const int64_t products = countBetween<twg::WarpgroupCommitOp>(&body->front(), nullptr);
  bool isLater = false, isBehind = false;
  for (twg::BarrierArriveOp arrive : arrivals) {
    if (arrive->getBlock() == body && Slot(arrive.getBarrier()).number == slot.number) {
      if (isWaitedForBetween(dot, arrive)) return success();
      return arrive.emitOpError("gives back a slot that a product in flight reads");
    }
    auto wait = cast_if_present<twg::WarpgroupWaitOp>(
        findBefore(arrive, [](Operation* op) { return isa<twg::WarpgroupWaitOp>(op); }));
    Operation* loop = body->getParentOp();
    if (arrive->getBlock() == loop->getBlock() && loop->isBeforeInBlock(arrive))
      isBehind |= wait && wait.getPending() == 0;
    if (arrive->getBlock() == body) isLater |= wait && wait->getBlock() == body && wait.getPending() <= products;
  }
  if (isLater && isBehind) return success();
  return dot.emitOpError() << "reads a slot that no twg.barrier_arrive behind a twg.warpgroup_wait gives back "
                           << (isLater ? "behind the loop" : "in the next iteration");
}

/// A slot that a producer fills is given back when it has been read.
LogicalResult verifyReleased(Operation* reader, Slot slot, twg::TensorLoadOp load) {
  if (!load->getParentOfType<twg::ProducerOp>()) return success();
  twg::BarrierWaitOp free = waitForFreeSlot(load);
  if (!free)
    return load.emitOpError("fills a slot that may be read, and no twg.barrier_wait free of its own stands in front");
  SmallVector<Operation*> users = twg::usersOf(Slot(free.getBarrier()).memory.getResult());
  SmallVector<twg::BarrierArriveOp> arrivals;
  for (Operation* user : users)
    if (auto arrive = dyn_cast<twg::BarrierArriveOp>(user)) arrivals.push_back(arrive);
  if (auto dot = dyn_cast<twg::WarpgroupDotOp>(reader); dot && dot.getInFlight())
    return verifyReleasedLater(dot, slot, arrivals);
  for (twg::BarrierArriveOp arrive : arrivals) {
    Operation* here = arrive->getBlock()->findAncestorOpInBlock(*reader);
    const bool isBehind = here && here->isBeforeInBlock(arrive);
    if (isBehind && (Slot(arrive.getBarrier()).number == slot.number || here != reader)) return success();
  }
  return reader->emitOpError("reads a slot that no twg.barrier_arrive behind it gives back to its producer");
}

LogicalResult verifyReader(Operation* reader, Value memory) {
  Slot slot(memory);
  if (!slot.memory) return reader->emitOpError("reads shared memory that no twg.local_alloc of the kernel makes");
  for (Operation* user : twg::usersOf(slot.memory.getResult())) {
    LogicalResult result = llvm::TypeSwitch<Operation*, LogicalResult>(user)
                               .Case([&](twg::AsyncCopyOp copy) { return verifyGroupsWaitedFor(reader, slot, copy); })
                               .Case([&](twg::TensorLoadOp load) {
                                 LogicalResult arrived = verifyArrivalWaitedFor(reader, slot, load);
                                 return failed(arrived) ? arrived : verifyReleased(reader, slot, load);
                               })
                               .Case([&](twg::LocalStoreOp store) { return verifyStored(reader, slot, store); })
                               .Default([](Operation*) { return success(); });
    if (failed(result) || (memoryFilledBy(user) && failed(verifyRefilled(reader, slot, user)))) return failure();
  }
  return success();
}

/// Who arrives at barriers: each warp of the program, the producers of both CTAs of a pair, or one thread of a producer or of the
/// program, which expects bytes or says where it is.
LogicalResult verifyArrivals(twg::BarrierInitOp init, ThreadBits threads) {
  uint32_t arrivals = 1;
  for (Operation* user : twg::usersOf(init.getBarriers())) {
    if (isa<twg::BarrierArriveOp>(user) && !user->getParentOfType<twg::ProducerOp>()) arrivals = 1u << threads.warp;
    if (isa<twg::PairArriveOp>(user)) arrivals = kCtasOfPair;
  }
  if (init.getArrivals() == arrivals) return success();
  return init.emitOpError() << "waits for " << init.getArrivals() << " arrivals at each barrier; there are "
                            << arrivals;
}

/// The tensor unit writes and reads shared memory behind a fence. What a producer fills no thread writes.
LogicalResult verifyProxy(Operation* op, Value memory) {
  if (op->getParentOfType<twg::ProducerOp>()) {
    twg::LocalAllocOp allocation = twg::allocationOf(memory);
    SmallVector<Operation*> users;
    if (allocation) users = twg::usersOf(allocation.getResult());
    if (allocation && !allocation.getSrc() &&
        llvm::none_of(users, [](Operation* user) { return isa<twg::LocalStoreOp>(user); }))
      return success();
    return op->emitOpError("fills memory of which threads write, too; a producer has memory of its own");
  }
  Operation* barrier = findBefore(op, [](Operation* at) { return isa<twg::ProxyBarrierOp>(at); });
  bool isWrittenBehind = false;
  auto note = [&](Operation* writer) {
    isWrittenBehind |= barrier && writer->getBlock() == barrier->getBlock() && barrier->isBeforeInBlock(writer) &&
                       writer->getBlock() == op->getBlock() && writer->isBeforeInBlock(op);
  };
  twg::LocalAllocOp allocation = twg::allocationOf(memory);
  if (allocation && allocation.getSrc()) note(allocation);
  for (Operation* user : memory.getUsers())
    if (isa<twg::LocalStoreOp>(user)) note(user);
  if (barrier && !isWrittenBehind) return success();
  const bool isWritten = (allocation && allocation.getSrc()) ||
                         llvm::any_of(memory.getUsers(), [](Operation* user) { return isa<twg::LocalStoreOp>(user); });
  // A slot is filled again where its readers have reached a barrier (verifyReleased).
  Operation* loop = outermostLoop(op);
  auto isFilledFirst = [&](Operation* user) {
    if (loop == op) return user == op && isFirstUseOfShared(op);
    Operation* here = user->getBlock()->findAncestorOpInBlock(*loop);
    return isa<twg::TensorLoadOp>(user) && here && user->isBeforeInBlock(here) && isFirstUseOfShared(user);
  };
  if (!isWritten && allocation && llvm::any_of(twg::usersOf(allocation.getResult()), isFilledFirst)) return success();
  return op->emitOpError("copies what threads have used, and no twg.proxy_barrier stands in between");
}

} // namespace

LogicalResult verifyProtocol(tt::FuncOp kernel, const Target& target, ThreadBits threads) {
  if (failed(verifySharedMemory(kernel, target, threads)) || failed(verifyBarriers(kernel)) ||
      failed(verifyTurns(kernel)))
    return failure();
  auto visit = [&](Operation* op) -> WalkResult {
    for (Value memory : memoryReadBy(op))
      if (failed(verifyReader(op, memory))) return WalkResult::interrupt();
    return llvm::TypeSwitch<Operation*, LogicalResult>(op)
        .Case([](twg::AsyncCopyOp copy) { return verifyGroup<twg::AsyncCommitOp>(copy); })
        .Case([&](twg::BarrierInitOp init) { return verifyArrivals(init, threads); })
        .Case([](twg::BarrierExpectOp expect) { return verifyExpected(expect); })
        .Case([](twg::BarrierWaitOp wait) { return verifyPhase(wait); })
        .Case([](twg::TensorLoadOp load) {
          if (failed(verifyArrival(load)) || failed(verifyShared(load))) return failure();
          return verifyProxy(load, load.getDst());
        })
        .Case([](twg::TensorStoreOp store) {
          if (failed(verifyProxy(store, store.getSrc()))) return failure();
          if (producerOf(store->getParentOfType<tt::FuncOp>())) return verifyStoreWaitedFor(store);
          return verifyWaitedFor<twg::TensorCommitOp, twg::TensorWaitOp>(store);
        })
        .Case<twg::TensorCommitOp, twg::TensorWaitOp>([](auto op) { return verifyIssuer(op, op.getIssuer()); })
        .Case([](twg::WarpgroupDotOp dot) { return verifyProduct(dot); })
        .Case([](twg::TmemDotOp dot) -> LogicalResult {
          if (waitFor(dot)) return success();
          return dot.emitOpError(
              "is on its way when the next operation runs: no twg.barrier_wait for its barrier stands "
              "right behind");
        })
        .Case([](twg::TmemOpenOp open) { return verifyTensorMemory(open); })
        .Default([](Operation*) { return success(); });
  };
  return failure(kernel.walk(visit).wasInterrupted());
}

} // namespace tiletwin::codegen
