// codegen/passes/Phases.cpp -- see Phases.h.
// Idea: control flow is walked in the order in which it runs. An operation with regions that have waits is made again with
//       one more value that comes in and goes out for each word that they change.
#include "codegen/passes/Phases.h"
#include "codegen/dialect/TWG.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

class Phases {
public:
  explicit Phases(tt::FuncOp kernel) : kernel_(kernel), rewriter_(kernel.getContext()) {}

  void run() {
    Changed all = changedBy(kernel_);
    if (all.empty()) return;
    rewriter_.setInsertionPointToStart(&kernel_.getBody().front());
    Value none = arith::ConstantOp::create(rewriter_, kernel_.getLoc(), rewriter_.getI32IntegerAttr(0));
    Value free; // the phase before the first one is taken for one that has ended
    for (Operation* memory : all) {
      words_[memory] = none;
      if (!isFreeAtFirst(memory)) continue;
      if (!free) free = arith::ConstantOp::create(rewriter_, kernel_.getLoc(), rewriter_.getI32IntegerAttr(-1));
      words_[memory] = free;
    }
    visitRegion(kernel_.getBody(), all, [](Operation*) {});
  }

private:
  using Changed = llvm::SetVector<Operation*>; ///< allocations of barriers

  bool isFreeAtFirst(Operation* memory) {
    return kernel_
        .walk([&](twg::BarrierWaitOp wait) {
          const bool isFree = wait.getFree() && twg::allocationOf(wait.getBarrier()) == memory;
          return isFree ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  Changed changedBy(Operation* op) {
    Changed changed;
    op->walk([&](twg::BarrierWaitOp wait) {
      twg::LocalAllocOp memory = twg::allocationOf(wait.getBarrier());
      if (!wait.getPhase() && memory) changed.insert(memory);
    });
    return changed;
  }
  SmallVector<Value> now(const Changed& changed) {
    SmallVector<Value> words;
    for (Operation* memory : changed) words.push_back(words_[memory]);
    return words;
  }
  void set(const Changed& changed, ValueRange words) {
    for (auto [memory, word] : llvm::zip_equal(changed, words)) words_[memory] = word;
  }
  /// More operands for a terminator: the words that leave the region.
  void yieldWords(Operation* terminator, const Changed& changed) {
    terminator->insertOperands(terminator->getNumOperands(), now(changed));
  }

  void visitWait(twg::BarrierWaitOp wait);
  void visitBlock(Block& block);
  void visitRegion(Region& region, const Changed& changed, llvm::function_ref<void(Operation*)> leave);
  void visitFor(scf::ForOp loop, const Changed& changed);
  void visitWhile(scf::WhileOp loop, const Changed& changed);
  void visitIf(scf::IfOp branch, const Changed& changed);
  void visitExecuteRegion(scf::ExecuteRegionOp region, const Changed& changed);
  void visitProducer(twg::ProducerOp producer, const Changed& changed);
  /// The operation's types and the words'.
  SmallVector<mlir::Type> typesWithWords(Operation* op, const Changed& changed) {
    SmallVector<mlir::Type> types(op->getResultTypes());
    types.append(changed.size(), rewriter_.getI32Type());
    return types;
  }
  void replace(Operation* op, Operation* made, const Changed& changed) {
    made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    set(changed, made->getResults().take_back(changed.size()));
    rewriter_.replaceOp(op, made->getResults().drop_back(changed.size()));
  }

  tt::FuncOp kernel_;
  IRRewriter rewriter_;
  llvm::DenseMap<Operation*, Value> words_; ///< where the walk stands
};

void Phases::visitWait(twg::BarrierWaitOp wait) {
  auto slot = wait.getBarrier().getDefiningOp<twg::MemDescIndexOp>();
  Value index = slot ? slot.getIndex() : Value(), &word = words_[twg::allocationOf(wait.getBarrier())];
  rewriter_.setInsertionPoint(wait);
  wait.getPhaseMutable().assign(twg::PhaseOp::create(rewriter_, wait.getLoc(), rewriter_.getI32Type(), word, index));
  rewriter_.setInsertionPointAfter(wait);
  word = twg::NextPhaseOp::create(rewriter_, wait.getLoc(), rewriter_.getI32Type(), word, index);
}

void Phases::visitBlock(Block& block) {
  for (Operation& op : llvm::make_early_inc_range(block)) {
    if (auto wait = dyn_cast<twg::BarrierWaitOp>(op)) {
      if (!wait.getPhase() && twg::allocationOf(wait.getBarrier())) visitWait(wait);
      continue;
    }
    Changed changed = op.getNumRegions() ? changedBy(&op) : Changed();
    if (changed.empty()) continue;
    llvm::TypeSwitch<Operation*>(&op)
        .Case([&](scf::ForOp loop) { visitFor(loop, changed); })
        .Case([&](scf::WhileOp loop) { visitWhile(loop, changed); })
        .Case([&](scf::IfOp branch) { visitIf(branch, changed); })
        .Case([&](scf::ExecuteRegionOp region) { visitExecuteRegion(region, changed); })
        .Case([&](twg::ProducerOp producer) { visitProducer(producer, changed); });
  }
}

/// Words come in where the walk stands, and go from block to block as arguments. leave: adds them to what leaves.
void Phases::visitRegion(Region& region, const Changed& changed, llvm::function_ref<void(Operation*)> leave) {
  for (Block& block : llvm::drop_begin(region))
    for (size_t i = 0; i < changed.size(); ++i) block.addArgument(rewriter_.getI32Type(), kernel_.getLoc());
  for (Block& block : region) {
    if (!block.isEntryBlock()) set(changed, ValueRange(block.getArguments()).take_back(changed.size()));
    visitBlock(block);
    Operation* last = block.getTerminator();
    if (auto branch = dyn_cast<BranchOpInterface>(last))
      for (unsigned i = 0; i < last->getNumSuccessors(); ++i) branch.getSuccessorOperands(i).append(now(changed));
    else
      leave(last);
  }
}

void Phases::visitFor(scf::ForOp loop, const Changed& changed) {
  SmallVector<Value> words = now(changed);
  DictionaryAttr attributes = loop->getDiscardableAttrDictionary();
  auto replaced = loop.replaceWithAdditionalYields(
      rewriter_, words, false, [](OpBuilder&, Location, ArrayRef<BlockArgument> added) {
        return SmallVector<Value>(added.begin(), added.end()); // until the body is visited
      });
  auto made = cast<scf::ForOp>(replaced->getOperation());
  made->setDiscardableAttrs(attributes);
  set(changed, ValueRange(made.getRegionIterArgs()).take_back(changed.size()));
  visitBlock(*made.getBody());
  Operation* yield = made.getBody()->getTerminator();
  yield->setOperands(yield->getNumOperands() - changed.size(), changed.size(), now(changed));
  set(changed, made.getResults().take_back(changed.size()));
}

void Phases::visitWhile(scf::WhileOp loop, const Changed& changed) {
  SmallVector<Value> inits(loop.getInits());
  llvm::append_range(inits, now(changed));
  rewriter_.setInsertionPoint(loop);
  auto made = scf::WhileOp::create(rewriter_, loop.getLoc(), typesWithWords(loop, changed), inits);
  for (auto [from, to] : llvm::zip_equal(loop->getRegions(), made->getRegions())) {
    to.takeBody(from);
    for (size_t i = 0; i < changed.size(); ++i) to.front().addArgument(rewriter_.getI32Type(), loop.getLoc());
    set(changed, ValueRange(to.front().getArguments()).take_back(changed.size()));
    visitBlock(to.front());
    yieldWords(to.front().getTerminator(), changed);
  }
  replace(loop, made, changed);
}

void Phases::visitIf(scf::IfOp branch, const Changed& changed) {
  SmallVector<Value> words = now(changed);
  rewriter_.setInsertionPoint(branch);
  auto made = scf::IfOp::create(rewriter_, branch.getLoc(), typesWithWords(branch, changed), branch.getCondition(),
                                /*addThenBlock=*/false, /*addElseBlock=*/false);
  for (auto [from, to] : llvm::zip_equal(branch->getRegions(), made->getRegions())) {
    to.takeBody(from);
    set(changed, words);
    if (to.empty()) {
      rewriter_.createBlock(&to);
      scf::YieldOp::create(rewriter_, branch.getLoc());
    }
    visitBlock(to.front());
    yieldWords(to.front().getTerminator(), changed);
  }
  replace(branch, made, changed);
}

void Phases::visitExecuteRegion(scf::ExecuteRegionOp region, const Changed& changed) {
  rewriter_.setInsertionPoint(region);
  auto made = scf::ExecuteRegionOp::create(rewriter_, region.getLoc(), typesWithWords(region, changed));
  made.getRegion().takeBody(region.getRegion());
  visitRegion(made.getRegion(), changed, [&](Operation* yield) { yieldWords(yield, changed); });
  replace(region, made, changed);
}

/// Its warps have words of their own, which go no further.
void Phases::visitProducer(twg::ProducerOp producer, const Changed& changed) {
  SmallVector<Value> words = now(changed);
  visitBlock(producer.getBody().front());
  set(changed, words);
}

} // namespace

void derivePhases(tt::FuncOp kernel) { Phases(kernel).run(); }

} // namespace tiletwin::codegen
