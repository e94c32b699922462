// codegen/passes/Producer.cpp -- see Producer.h.
#include "codegen/passes/Producer.h"
#include "codegen/passes/AffineLoads.h"
#include "codegen/passes/CopyGroups.h"
#include "codegen/passes/DotsInFlight.h"
#include "codegen/passes/ProducerSlice.h"
#include "codegen/passes/SharedMemory.h"
#include "codegen/passes/TensorCopies.h"
#include "codegen/passes/TileLoop.h"
#include "codegen/passes/Turns.h"
#include "codegen/passes/WrittenMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

constexpr llvm::StringLiteral kAsked = "tt.warp_specialize", kFlatten = "tt.flatten";
constexpr int kProducerWarps = 4; ///< registers are divided between groups of four warps
constexpr int kMostWarps = 32;    ///< of a CTA
constexpr int kWarpsOfRounds = 8; ///< two groups of four; loops of others copy on only if they are asked to

/// What asks for a producer: warp_specialize, or flatten around other loops, whose blocks are to be copied on between rounds.
StringRef hintOf(scf::ForOp loop) {
  const bool isNest = loop.getBody()->walk([](scf::ForOp) { return WalkResult::interrupt(); }).wasInterrupted();
  StringRef hint;
  if (loop->hasAttr(kAsked))
    hint = kAsked;
  else if (loop->hasAttr(kFlatten) && isNest)
    hint = kFlatten;
  return hint.drop_front(std::min<size_t>(hint.size(), 3)); // without "tt."
}

/// True for PTX that may ask who its threads are, or make them wait.
bool mayNameThreads(tt::ElementwiseInlineAsmOp assembly) {
  StringRef text = assembly.getAsmString();
  return !assembly.getPure() || text.contains("bar") || text.contains("tid") || text.contains("warpid");
}

/// What may tell the program that others have written what the loop copies, or wants all of the CTA's threads; null if there
/// is nothing of that kind. What the kernel does behind the loop comes too late for that.
Operation* firstWaitForOthers(tt::FuncOp kernel, scf::ForOp loop) {
  Block& all = kernel.getBody().front();
  Operation *outermost = all.findAncestorOpInBlock(*loop), *found = nullptr;
  kernel.walk([&](Operation* op) {
    auto assembly = dyn_cast<tt::ElementwiseInlineAsmOp>(op);
    const bool waits = mayTellOfOthers(op) || isa<tt::GridDependencyWaitOp, ttg::BarrierOp>(op);
    Operation* here = all.findAncestorOpInBlock(*op);
    if ((waits && here && !outermost->isBeforeInBlock(here)) || (assembly && mayNameThreads(assembly))) found = op;
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

/// A group of blocks, and the barriers of its slots.
struct BlockRing {
  CopyGroup group;
  Value full, empty;

  bool hasMemoryOf(const BlockRing& other) const {
    return llvm::equal(group.copies, other.group.copies,
                       [](const BlockCopy& one, const BlockCopy& two) { return one.slots.type() == two.slots.type(); });
  }
};

/// A loop that gives these copies away.
struct GivenLoop {
  scf::ForOp loop;
  int slots = 0;
  SmallVector<BlockRing, 0> rings;

  /// Both run at one time.
  bool isNestedWith(GivenLoop& other) { return loop->isAncestor(other.loop) || other.loop->isAncestor(loop); }
};

/// What uses the memory of a group's blocks, but for the copies and views.
SmallVector<Operation*> readersOf(CopyGroup& group) {
  SmallVector<Operation*> readers;
  SmallVector<Value> memory;
  for (const BlockCopy& copy : group.copies) memory.push_back(twg::LocalAllocOp(copy.slots.memory()).getResult());
  while (!memory.empty())
    for (Operation* user : memory.pop_back_val().getUsers()) {
      if (isa<twg::MemDescViewOp>(user))
        memory.push_back(user->getResult(0));
      else if (!isa<twg::TensorLoadOp>(user))
        readers.push_back(user);
    }
  return readers;
}

bool waitsForAll(Operation* op) {
  auto wait = dyn_cast_if_present<twg::WarpgroupWaitOp>(op);
  return wait && wait.getPending() == 0;
}

class Producer {
public:
  Producer(tt::FuncOp kernel, const Target& target, const Options& options)
      : kernel_(kernel), target_(target), options_(options), rewriter_(kernel.getContext()) {}
  void run();

private:
  bool isPossible(scf::ForOp asked);
  bool gainsByProducer(scf::ForOp loop);
  bool wouldCopyOn(scf::ForOp loop) const;
  bool find(scf::ForOp loop);
  void make();
  void rewrite(GivenLoop& given);
  BlockArgument carryTurn(GivenLoop& given);
  void allocate(GivenLoop& given, BlockRing& ring);
  Value makeBarriers(Location where, int slots, int arrivals);
  Value slotBefore(OpBuilder& builder, Location where, Value turn, int slots);
  void fillIn(GivenLoop& given, BlockRing& ring, Value turn);
  void release(GivenLoop& given, BlockRing& ring, Value turn, Operation* barrier);
  void lendRings(scf::IfOp branch);
  Value number(OpBuilder& builder, Location where, int64_t value) {
    return arith::ConstantOp::create(builder, where, builder.getI32IntegerAttr(int32_t(value)));
  }

  tt::FuncOp kernel_;
  const Target& target_;
  const Options& options_;
  IRRewriter rewriter_;
  std::string reason_; ///< why a loop has no producer
  SmallVector<GivenLoop, 0> given_;
  twg::ProducerOp producer_; ///< made empty, behind the rings' memory
  llvm::DenseSet<Operation*> ofProducer_;
};

/// Whether a loop that asks can have one at all.
bool Producer::isPossible(scf::ForOp asked) {
  if (!target_.features().wgmma)
    reason_ = "warps of their own are for the products of sm_90a, and this is code for " + target_.arch;
  else if (!options_.producers)
    reason_ =
        "its buffers do not fit into shared memory beside what the kernel keeps there while it runs; take smaller "
        "blocks or fewer stages";
  else if (options_.numWarps % kProducerWarps || options_.numWarps + kProducerWarps > kMostWarps)
    reason_ = "it takes num_warps of 4, 8 or 16, not " + std::to_string(options_.numWarps);
  else if (options_.maxRegisters * target_.warpSize * (options_.numWarps + kProducerWarps) > kRegisters)
    reason_ = "maxnreg=" + std::to_string(options_.maxRegisters) + " leaves no registers for four warps more";
  else if (!kernel_.getBody().hasOneBlock())
    reason_ = "the kernel returns from the middle of its text. Put what follows into a branch";
  else if (Operation* other = firstWaitForOthers(kernel_, asked))
    reason_ = "the kernel has a " + other->getName().getStringRef().str() +
              " in front of it or in it, behind which copies begin in the order of the text";
  return reason_.empty();
}

/// Adds the loop's groups that a producer can copy.
bool Producer::find(scf::ForOp loop) {
  const int slots = slotsOf(loop, target_, options_);
  SmallVector<CopyGroup, 2> groups = copyGroupsOf(loop);
  if (groups.empty()) return false;
  if (slots < 2) {
    reason_ = "num_stages=1 leaves one buffer, which is filled when it has been read";
    return false;
  }
  llvm::erase_if(groups, [&](const CopyGroup& group) {
    return llvm::any_of(group.copies, [&](BlockCopy copy) {
      if (mayBeWritten(copy.load.getDesc())) {
        reason_ = "the kernel writes what the loop loads";
        return true;
      }
      if (ProducerSlice().add(copy.load, copy.load.getIndices())) return false;
      reason_ = "what its blocks' places, or its rounds, are computed from takes all of the program's warps";
      return true;
    });
  });
  if (groups.empty()) return false;
  given_.push_back({loop, slots, {}});
  for (CopyGroup& group : groups) given_.back().rings.push_back({group, {}, {}});
  return true;
}

/// True for a loop with other work beside its products, in which two groups of warps do one each, if nothing lets all warps
/// wait for each other: in turns, or without where there is no place for a turn and registers have room for all that is in
/// flight.
bool Producer::gainsByProducer(scf::ForOp loop) {
  SmallVector<CopyGroup, 2> groups = copyGroupsOf(loop);
  if (groups.empty() || !gainsByTurns(loop, target_, options_)) return false;
  DotsInFlight dots(loop, [&](twg::LocalAllocOp memory) {
    return llvm::any_of(groups, [&](const CopyGroup& group) { return group.has(memory); });
  });
  if (!options_.dotsInFlight || !dots.any()) return false;
  return dots.haveWorkBetween() || (dots.areBuffered() && leavesRegisters(loop));
}

/// True for a loop inside of a kernel's own loop, over tiles for example, if its products leave no registers for another CTA:
/// while one round's results are stored, the next one's blocks are copied. A descriptor's may be what a round stores by a pointer.
bool Producer::wouldCopyOn(scf::ForOp loop) const {
  const SmallVector<CopyGroup, 2> groups = copyGroupsOf(loop);
  if (!loop->getParentOfType<LoopLikeOpInterface>() || options_.numWarps != kWarpsOfRounds || groups.empty())
    return false;
  if (llvm::any_of(groups, [](const CopyGroup& group) { return group.isOfProgram(); })) return false;
  return leavesRegisters(loop) && fillsMultiprocessor(loop, options_.numWarps * target_.warpSize);
}

void Producer::run() {
  if (!target_.features().warpRoles) return; // other GPUs' code leaves the hint alone, as Triton's does
  SmallVector<scf::ForOp> wanting;
  kernel_.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    if (!hintOf(loop).empty() || isTileLoop(loop) || gainsByProducer(loop) || wouldCopyOn(loop))
      wanting.push_back(loop);
  });
  llvm::DenseSet<Operation*> seen;
  for (scf::ForOp outer : wanting) {
    reason_.clear();
    bool any = false;
    const bool hasBlocks = outer
                               .walk([](scf::ForOp loop) {
                                 return copyGroupsOf(loop).empty() ? WalkResult::advance() : WalkResult::interrupt();
                               })
                               .wasInterrupted();
    if (!hasBlocks)
      reason_ = "no load in it is a block that is copied through the tensor map of an argument (TensorDescriptor)";
    else if (isPossible(outer))
      outer.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
        if (seen.insert(loop).second) any |= find(loop);
        any |= llvm::any_of(given_, [&](const GivenLoop& given) { return given.loop == loop; });
      });
    if (StringRef hint = hintOf(outer); !any && !hint.empty())
      outer.emitWarning() << "tl.range(" << hint << "=True) changes nothing here: " << reason_;
  }
  if (!given_.empty()) make();
}

void Producer::make() {
  OpBuilder builder(kernel_.getContext());
  builder.setInsertionPointToStart(&kernel_.getBody().front());
  producer_ = twg::ProducerOp::create(builder, kernel_.getLoc(), kProducerWarps, DenseI32ArrayAttr());
  Block* body = builder.createBlock(&producer_.getBody());
  builder.setInsertionPointToEnd(body);
  Operation* end = twg::ProducerEndOp::create(builder, kernel_.getLoc());
  for (GivenLoop& given : given_) rewrite(given);
  llvm::SetVector<Operation*> branches; // in loops: elsewhere no ring lives on behind its branch
  for (GivenLoop& given : given_)
    if (auto branch = dyn_cast<scf::IfOp>(given.loop->getParentOp());
        branch && isEitherWay(branch) && branch->getParentOfType<LoopLikeOpInterface>())
      branches.insert(branch);
  for (Operation* branch : branches) lendRings(cast<scf::IfOp>(branch));
  ProducerSlice slice;
  for (Operation* op : ofProducer_) {
    const bool added = slice.add(op, op->getOperands());
    assert(added), (void)added;
  }
  builder.setInsertionPoint(end);
  slice.copyTo(builder, kernel_.getBody().front(), ofProducer_);
  for (Operation* op : ofProducer_) op->erase();
}

/// The loop and the loops around it carry the number of the slot on, as far as nothing but loops stands around them.
BlockArgument Producer::carryTurn(GivenLoop& given) {
  SmallVector<scf::ForOp> nest{given.loop};
  while (auto outer = dyn_cast<scf::ForOp>(nest.back()->getParentOp())) nest.push_back(outer);
  Location where = given.loop.getLoc();
  rewriter_.setInsertionPoint(nest.back());
  Value turn = number(rewriter_, where, 0);
  scf::ForOp outer;
  for (scf::ForOp loop : llvm::reverse(nest)) {
    scf::ForOp made = LoopSlice(loop).carryOn(rewriter_, turn, [](OpBuilder&, Location, ArrayRef<BlockArgument> added) {
      return SmallVector<Value>(added.begin(), added.end()); // until the inner loop, or the next number, is known
    });
    for (GivenLoop& other : given_)
      if (other.loop == loop) other.loop = made;
    turn = made.getRegionIterArgs().back();
    if (outer) {
      Operation* yield = outer.getBody()->getTerminator();
      yield->setOperand(yield->getNumOperands() - 1, made.getResults().back());
    }
    outer = made;
  }
  Operation* yield = given.loop.getBody()->getTerminator();
  OpBuilder builder(yield);
  Value one = arith::AddIOp::create(builder, where, turn, number(builder, where, 1));
  Value isOver =
      arith::CmpIOp::create(builder, where, arith::CmpIPredicate::eq, one, number(builder, where, given.slots));
  yield->setOperand(yield->getNumOperands() - 1,
                    arith::SelectOp::create(builder, where, isOver, number(builder, where, 0), one));
  return cast<BlockArgument>(turn);
}

/// Memory is made a barrier once, in front of the producer.
Value Producer::makeBarriers(Location where, int slots, int arrivals) {
  OpBuilder builder(kernel_.getContext());
  builder.setInsertionPointToStart(&kernel_.getBody().front());
  Value memory =
      twg::LocalAllocOp::create(builder, where, barriersType(kernel_.getContext(), slots), Value(), IntegerAttr());
  builder.setInsertionPoint(producer_);
  twg::BarrierInitOp::create(builder, where, memory, uint32_t(arrivals));
  return memory;
}

/// The slot of the iteration before.
Value Producer::slotBefore(OpBuilder& builder, Location where, Value turn, int slots) {
  Value isFirst = arith::CmpIOp::create(builder, where, arith::CmpIPredicate::eq, turn, number(builder, where, 0));
  Value less = arith::SubIOp::create(builder, where, turn, number(builder, where, 1));
  return arith::SelectOp::create(builder, where, isFirst, number(builder, where, slots - 1), less);
}

/// Puts the producer's operations where the copies stood, and the program's wait in front of the first reader.
void Producer::fillIn(GivenLoop& given, BlockRing& ring, Value turn) {
  CopyGroup& group = ring.group;
  Location where = group.wait.getLoc();
  Operation* first = given.loop.getBody()->getTerminator();
  for (Operation* reader : readersOf(group)) {
    Operation* here = given.loop.getBody()->findAncestorOpInBlock(*reader);
    if (here->isBeforeInBlock(first)) first = here;
  }
  OpBuilder builder(group.expect);
  ofProducer_.insert(
      twg::BarrierWaitOp::create(builder, where, barrierAt(builder, where, ring.empty, turn), Value(), /*free=*/true));
  ofProducer_.insert(
      twg::BarrierExpectOp::create(builder, where, barrierAt(builder, where, ring.full, turn), group.bytes(), Value()));
  for (BlockCopy& copy : group.copies) {
    builder.setInsertionPoint(copy.load);
    Value slot = copy.slots.at(builder, turn);
    ofProducer_.insert(twg::TensorLoadOp::create(builder, copy.load.getLoc(), copy.load.getDesc(),
                                                 copy.load.getIndices(), slot,
                                                 barrierAt(builder, where, ring.full, turn), Value(), Value()));
    copy.load.erase();
    copy.slots.replaceMemory(builder, turn);
    copy.slots.memory().erase();
  }
  builder.setInsertionPoint(first);
  twg::BarrierWaitOp::create(builder, where, barrierAt(builder, where, ring.full, turn), Value());
  group.wait.erase(), group.expect.erase(), group.before.erase();
}

/// Arrives at `empty` behind the group's last reader. `barrier`: behind the loop's wait for products in flight.
void Producer::release(GivenLoop& given, BlockRing& ring, Value turn, Operation* barrier) {
  CopyGroup& group = ring.group;
  Location where = given.loop.getLoc();
  Block* body = given.loop.getBody();
  Operation* last = group.wait;
  bool isInFlight = false;
  for (Operation* reader : readersOf(group)) {
    Operation* here = body->findAncestorOpInBlock(*reader);
    auto dot = dyn_cast<twg::WarpgroupDotOp>(reader);
    // Where all products are waited for, so are those of this iteration that stand in front.
    if (dot && dot.getInFlight() && here->isBeforeInBlock(barrier) && waitsForAll(barrier->getPrevNode()))
      here = barrier;
    else
      isInFlight |= dot && dot.getInFlight();
    if (last->isBeforeInBlock(here)) last = here;
  }
  OpBuilder builder(given.loop);
  if (!isInFlight) {
    builder.setInsertionPointAfter(last);
    twg::BarrierArriveOp::create(builder, where, barrierAt(builder, where, ring.empty, turn), Value());
    return;
  }
  // What the loop's wait has waited for are the products of the iteration before. Those of the last one are waited for
  // behind the loop.
  builder.setInsertionPoint(barrier);
  Value isLater = arith::CmpIOp::create(builder, where, arith::CmpIPredicate::ne, given.loop.getInductionVar(),
                                        given.loop.getLowerBound());
  Value slot = slotBefore(builder, where, turn, given.slots);
  twg::BarrierArriveOp::create(builder, where, barrierAt(builder, where, ring.empty, slot), isLater);
  builder.setInsertionPointAfter(given.loop->getNextNode());
  auto less = given.loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  Value any = arith::CmpIOp::create(builder, where, less, given.loop.getLowerBound(), given.loop.getUpperBound());
  slot = slotBefore(builder, where, given.loop.getResults().back(), given.slots);
  twg::BarrierArriveOp::create(builder, where, barrierAt(builder, where, ring.empty, slot), any);
}

/// Where a branch loads what is copied otherwise, the producer waits until that is done. The program has read all that was
/// copied before. So the rings' memory is free meanwhile (SharedMemory.cpp). It begins when the producer has come there, too: a
/// program two such branches ahead would end two phases, which look like none.
void Producer::lendRings(scf::IfOp branch) {
  Location where = branch.getLoc();
  Value lent = makeBarriers(where, 1, 1), finished = makeBarriers(where, 1, options_.numWarps);
  OpBuilder builder = OpBuilder::atBlockBegin(branch.elseBlock());
  Value first = number(builder, where, 0), free = barrierAt(builder, where, lent, first);
  ofProducer_.insert(twg::BarrierArriveOp::create(builder, where, free, Value()));
  twg::BarrierWaitOp::create(builder, where, free, Value());
  twg::ProxyBarrierOp::create(builder, where);
  builder.setInsertionPoint(branch.elseBlock()->getTerminator());
  twg::ProxyBarrierOp::create(builder, where);
  Value done = barrierAt(builder, where, finished, first);
  twg::BarrierArriveOp::create(builder, where, done, Value())->setDiscardableAttr(kRingsAreLent, builder.getUnitAttr());
  ofProducer_.insert(twg::BarrierWaitOp::create(builder, where, done, Value()));
}

/// Memory and barriers in front of the producer. Loops one of which ends before the other begins share them.
void Producer::allocate(GivenLoop& given, BlockRing& ring) {
  for (GivenLoop& other : given_) {
    if (&other == &given) break;
    if (other.slots != given.slots || other.isNestedWith(given)) continue;
    for (BlockRing& made : other.rings) {
      const bool isTaken = llvm::any_of(given.rings, [&](BlockRing& own) { return own.full == made.full; });
      if (isTaken || !made.hasMemoryOf(ring)) continue;
      for (auto [own, shared] : llvm::zip_equal(ring.group.copies, made.group.copies)) own.slots.share(shared.slots);
      ring.full = made.full, ring.empty = made.empty;
      return;
    }
  }
  OpBuilder builder(kernel_.getContext());
  builder.setInsertionPointToStart(&kernel_.getBody().front());
  for (BlockCopy& copy : ring.group.copies) copy.slots.allocate(builder, given.slots);
  ring.full = makeBarriers(given.loop.getLoc(), given.slots, 1);
  ring.empty = makeBarriers(given.loop.getLoc(), given.slots, options_.numWarps);
}

void Producer::rewrite(GivenLoop& given) {
  Value turn = carryTurn(given);
  DotsInFlight dots(given.loop, [&](twg::LocalAllocOp memory) {
    return llvm::any_of(given.rings, [&](const BlockRing& ring) { return ring.group.has(memory); });
  });
  Operation* barrier = options_.dotsInFlight && dots.any() && dots.areBuffered() ? dots.rewrite() : nullptr;
  for (BlockRing& ring : given.rings) {
    allocate(given, ring);
    release(given, ring, turn, barrier);
    fillIn(given, ring, turn);
  }
  if (barrier) barrier->erase();
}

} // namespace

void makeProducer(tt::FuncOp kernel, const Target& target, const Options& options) {
  Producer(kernel, target, options).run();
}

twg::ProducerOp producerOf(tt::FuncOp kernel) {
  auto all = kernel.getBody().front().getOps<twg::ProducerOp>();
  return all.empty() ? twg::ProducerOp() : *all.begin();
}

int warpsOf(tt::FuncOp kernel, const Options& options) {
  twg::ProducerOp producer = producerOf(kernel);
  return options.numWarps + (producer ? int(producer.getWarps()) : 0);
}

} // namespace tiletwin::codegen
