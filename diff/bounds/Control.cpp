// diff/bounds/Control.cpp -- shadows through loops, branches and scalar code: they are carried beside the values.
// Not here:  what decisions that may differ leave unknown (Decisions.cpp), which values may differ (Flow.cpp), shadows of
//            single operations (*Ops.cpp).
#include "diff/bounds/Builder.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/RegionGraphTraits.h"
#include "llvm/ADT/PostOrderIterator.h"
#include <limits>
#include <utility>

using namespace mlir;

namespace tiletwin::diff {

SmallVector<unsigned> Builder::needed(ValueRange values) const {
  SmallVector<unsigned> which;
  for (auto [i, value] : llvm::enumerate(values))
    if (needsShadow(value)) which.push_back(unsigned(i));
  return which;
}

/// The shadow of a value that has none, where others have.
Value Builder::noShadow(Type type) {
  if (isBool(type)) {
    TypedAttr no = ops_.getBoolAttr(false);
    Type shape = shadowType(type);
    if (auto tile = dyn_cast<RankedTensorType>(shape)) no = DenseElementsAttr::get(tile, false);
    return arith::ConstantOp::create(ops_, location_, no);
  }
  return zero(type);
}

SmallVector<Value> Builder::shadowsOf(ValueRange values, ArrayRef<unsigned> which) {
  SmallVector<Value> result;
  for (unsigned i : which) {
    Value shadow = of(values[i]);
    result.push_back(shadow ? shadow : noShadow(values[i].getType()));
  }
  return result;
}

void Builder::addBlockArguments(Block& block, ArrayRef<unsigned> which) {
  for (unsigned i : which) {
    Value argument = block.getArgument(i);
    shadows_[argument] = block.addArgument(shadowType(argument.getType()), argument.getLoc());
  }
}

void Builder::replaceResults(Operation* from, Operation* to, ArrayRef<unsigned> which) {
  to->setDiscardableAttrs(from->getDiscardableAttrDictionary());
  const unsigned count = from->getNumResults();
  for (unsigned i = 0; i < count; ++i) {
    Value old = from->getResult(i), now = to->getResult(i);
    if (isInexact(old)) inexact_.insert(now);
    if (ordered_.contains(old)) ordered_.insert(now);
    if (mayWrap(old)) wrapping_.insert(now);
    if (auto at = roots_.find(old); at != roots_.end()) {
      llvm::BitVector roots = at->second;
      roots_[now] = roots;
    }
    old.replaceAllUsesWith(now);
  }
  for (auto [k, i] : llvm::enumerate(which)) shadows_[to->getResult(i)] = to->getResult(count + unsigned(k));
  kernelOps_.erase(from);
  from->erase();
}

static void appendOperands(Operation* terminator, ValueRange values) {
  terminator->insertOperands(terminator->getNumOperands(), values);
}

void Builder::shadowFor(Operation* op, Value doubt) {
  auto loop = cast<scf::ForOp>(op);
  const unsigned count = op->getNumResults();
  SmallVector<unsigned> which = needed(loop.getRegionIterArgs());
  if (which.empty()) {
    shadowRegion(loop.getRegion());
    return doubtResults(op, count, doubt);
  }
  SmallVector<Value> inits(loop.getInitArgs());
  inits.append(shadowsOf(loop.getInitArgs(), which));
  auto made = scf::ForOp::create(ops_, op->getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits,
                                 nullptr, loop.getUnsignedCmp());
  made.getRegion().takeBody(loop.getRegion());
  Block& body = *made.getBody();
  for (unsigned i : which) {
    Value argument = body.getArgument(i + 1); // behind the induction variable
    shadows_[argument] = body.addArgument(shadowType(argument.getType()), argument.getLoc());
  }
  shadowRegion(made.getRegion());
  Operation* yield = body.getTerminator();
  ops_.setInsertionPoint(yield);
  appendOperands(yield, shadowsOf(yield->getOperands(), which));
  replaceResults(op, made, which);
  doubtResults(made, count, doubt);
}

/// From the first round on that only one side may go into, the loop carries that along.
void Builder::shadowWhile(Operation* op) {
  auto loop = cast<scf::WhileOp>(op);
  const unsigned count = op->getNumResults();
  const bool open = isOpen(op), isOrdered = ordered_.contains(loop.getConditionOp().getCondition());
  llvm::BitVector written = writtenIn(loop.getBefore());
  written |= writtenIn(loop.getAfter());
  SmallVector<unsigned> before = needed(loop.getBeforeArguments()), after = needed(loop.getAfterArguments());
  SmallVector<Value> inits(loop.getInits());
  inits.append(shadowsOf(loop.getInits(), before));
  SmallVector<Type> types(op->getResultTypes());
  for (unsigned i : after) types.push_back(shadowType(loop.getResult(i).getType()));
  if (open) {
    inits.push_back(noShadow(ops_.getI1Type()));
    types.push_back(ops_.getI1Type());
  }
  auto made = scf::WhileOp::create(ops_, op->getLoc(), types, inits);
  made.getBefore().takeBody(loop.getBefore());
  made.getAfter().takeBody(loop.getAfter());
  addBlockArguments(made.getBefore().front(), before);
  addBlockArguments(made.getAfter().front(), after);
  const Value outer = doubt_;
  /// Enters a region of the loop; returns what it has carried along.
  auto enter = [&](Region& region) -> Value {
    if (!open) return {};
    Value since = region.front().addArgument(ops_.getI1Type(), op->getLoc());
    ops_.setInsertionPointToStart(&region.front());
    doubt_ = either(outer, since);
    return since;
  };
  Value since = enter(made.getBefore());
  shadowRegion(made.getBefore());
  scf::ConditionOp condition = made.getConditionOp();
  ops_.setInsertionPoint(condition);
  if (Value doubt = of(condition.getCondition())) {
    note(doubt, Reason::Branch);
    noteOpen(both(doubt, invert(condition.getCondition())), written);
    if (isOrdered) noteEverything(doubt);
    since = either(since, doubt);
  }
  appendOperands(condition, shadowsOf(condition.getArgs(), after));
  if (open) appendOperands(condition, since);
  since = enter(made.getAfter());
  shadowRegion(made.getAfter());
  Operation* yield = made.getYieldOp();
  ops_.setInsertionPoint(yield);
  appendOperands(yield, shadowsOf(yield->getOperands(), before));
  if (open) appendOperands(yield, since);
  doubt_ = outer;
  replaceResults(op, made, after);
  if (open) doubtResults(made, count, made->getResults().back());
}

void Builder::shadowIf(Operation* op, Value doubt) {
  auto branch = cast<scf::IfOp>(op);
  const unsigned count = op->getNumResults();
  SmallVector<unsigned> which = needed(branch.getResults());
  if (which.empty()) {
    for (Region& region : op->getRegions()) shadowRegion(region);
    return doubtResults(op, count, doubt);
  }
  SmallVector<Type> types(op->getResultTypes());
  for (unsigned i : which) types.push_back(shadowType(branch.getResult(i).getType()));
  auto made = scf::IfOp::create(ops_, op->getLoc(), types, branch.getCondition(), /*withElseRegion=*/true);
  for (unsigned r = 0; r < 2; ++r) {
    Region& region = made->getRegion(r);
    region.takeBody(op->getRegion(r));
    shadowRegion(region);
    Operation* yield = region.front().getTerminator();
    ops_.setInsertionPoint(yield);
    appendOperands(yield, shadowsOf(yield->getOperands(), which));
  }
  replaceResults(op, made, which);
  doubtResults(made, count, doubt);
}

void Builder::shadowExecuteRegion(Operation* op) {
  SmallVector<unsigned> which = needed(op->getResults());
  if (which.empty()) return shadowRegion(op->getRegion(0));
  SmallVector<Type> types(op->getResultTypes());
  for (unsigned i : which) types.push_back(shadowType(op->getResult(i).getType()));
  auto made = scf::ExecuteRegionOp::create(ops_, op->getLoc(), types);
  made.getRegion().takeBody(op->getRegion(0));
  shadowRegion(made.getRegion());
  for (Block& block : made.getRegion())
    if (auto yield = dyn_cast<scf::YieldOp>(block.getTerminator())) {
      ops_.setInsertionPoint(yield);
      appendOperands(yield, shadowsOf(yield->getOperands(), which));
    }
  replaceResults(op, made, which);
}

void Builder::shadowBranch(Operation* op) {
  auto branch = cast<BranchOpInterface>(op);
  for (unsigned i = 0; i < op->getNumSuccessors(); ++i) {
    SmallVector<unsigned> which;
    for (auto [k, argument] : llvm::enumerate(op->getSuccessor(i)->getArguments()))
      if (needsShadow(argument)) which.push_back(unsigned(k));
    SuccessorOperands operands = branch.getSuccessorOperands(i);
    SmallVector<Value> values(operands.getForwardedOperands());
    operands.append(shadowsOf(values, which));
  }
}

/// Scalar code for each lane: beside the operation one that has the operands' shadows too, and computes the results'.
void Builder::shadowMap(Operation* op) {
  auto map = cast<tt::MapElementwiseOp>(op);
  const unsigned pack = unsigned(map.getPack());
  SmallVector<unsigned> from = needed(map.getSrcs()), to = needed(op->getResults());
  if (to.empty()) return;
  ops_.setInsertionPointAfter(op);
  OperationState state(location_, op->getName().getStringRef());
  state.addOperands(map.getSrcs());
  state.addOperands(shadowsOf(map.getSrcs(), from));
  state.addTypes(op->getResultTypes());
  for (unsigned i : to) state.addTypes(shadowType(op->getResult(i).getType()));
  state.addAttributes(op->getAttrs());
  Region* copy = state.addRegion();
  IRMapping mapping;
  op->getRegion(0).cloneInto(copy, mapping);
  Operation* made = ops_.create(state);
  // What is known of values is known of the original's: the copy stays behind.
  Region original;
  original.takeBody(op->getRegion(0));
  op->getRegion(0).takeBody(made->getRegion(0));
  made->getRegion(0).takeBody(original);
  Block& body = made->getRegion(0).front();
  auto lanes = [&](ArrayRef<unsigned> which) {
    SmallVector<unsigned> all;
    for (unsigned i : which)
      for (unsigned p = 0; p < pack; ++p) all.push_back(i * pack + p);
    return all;
  };
  addBlockArguments(body, lanes(from));
  const Value outer = std::exchange(doubt_, Value());
  isInScalarCode_ = true;
  shadowRegion(made->getRegion(0));
  isInScalarCode_ = false;
  doubt_ = outer;
  Operation* end = body.getTerminator();
  ops_.setInsertionPoint(end);
  appendOperands(end, shadowsOf(end->getOperands(), lanes(to)));
  ops_.setInsertionPointAfter(made);
  for (auto [k, i] : llvm::enumerate(to)) {
    Value shadow = shadows_[op->getResult(i)] = made->getResult(op->getNumResults() + unsigned(k));
    if (isBool(shadow.getType())) continue;
    Value infinity = constant(shadow.getType(), std::numeric_limits<double>::infinity());
    note(invert(compare(arith::CmpFPredicate::OLT, shadow, infinity)), Reason::Branch);
  }
}

void Builder::shadowRegion(Region& region) {
  if (region.empty()) return;
  mlir::OpBuilder::InsertionGuard guard(ops_);
  for (Block& block : llvm::drop_begin(region.getBlocks())) addBlockArguments(block, needed(block.getArguments()));
  SmallVector<Block*> order;
  for (Block* block : llvm::ReversePostOrderTraversal<Region*>(&region)) order.push_back(block);
  for (Block* block : order)
    for (Operation& op : llvm::make_early_inc_range(*block)) shadowOp(&op);
}

void Builder::shadowControl(Operation* op) {
  const Value outer = doubt_, doubt = decide(op);
  if (!isa<cf::CondBranchOp>(op)) doubt_ = either(outer, doubt);
  if (isa<scf::ForOp>(op))
    shadowFor(op, doubt);
  else if (isa<scf::WhileOp>(op))
    shadowWhile(op);
  else if (isa<scf::IfOp>(op))
    shadowIf(op, doubt);
  else if (isa<scf::ExecuteRegionOp>(op))
    shadowExecuteRegion(op);
  else
    shadowBranch(op);
  doubt_ = outer;
}

void Builder::shadowOp(Operation* op) {
  if (!kernelOps_.contains(op)) return;
  ops_.setInsertionPoint(op);
  location_ = op->getLoc();
  followAddresses(op);
  if (isControl(op)) return shadowControl(op);
  if (isScalarCode(op)) return shadowMap(op);
  const Rule* rule = ruleFor(op);
  if (!op->hasTrait<OpTrait::IsTerminator>()) ops_.setInsertionPointAfter(op);
  if (op->getNumResults() == 0) {
    if (rule && rule->shadow) rule->shadow(*this, op, {});
    return;
  }
  // Atomics write memory, whether or not somebody looks at what they return.
  for (OpResult result : op->getResults()) {
    if (!needsShadow(result) && !stores_.contains(op)) continue;
    if (Value shadow = shadowBy(op, result); shadow && needsShadow(result)) shadows_[result] = shadow;
  }
}

Value Builder::shadowBy(Operation* op, OpResult result) {
  const Rule* rule = ruleFor(op);
  if (rule) return rule->shadow ? rule->shadow(*this, op, result) : Value();
  return withoutRule(op, result);
}

Value Builder::withoutRule(Operation* op, OpResult result) {
  if (!hasInexactOperand(op) || isAddress(result.getType())) return {};
  without(op);
  Value some; // any lane of any operand
  for (Value operand : op->getOperands()) {
    Value lanes = mayDiffer(operand);
    while (lanes && isa<RankedTensorType>(lanes.getType()))
      lanes = reduce(lanes, int(cast<RankedTensorType>(lanes.getType()).getRank()) - 1, "arith.ori");
    if (lanes) some = either(some, lanes);
  }
  if (!some) return {};
  if (isa<RankedTensorType>(result.getType())) some = splat(some, result.getType());
  note(some, Reason::NoRule);
  return isBool(result.getType()) ? some : unknownWhere(some, Reason::NoRule, {}, result.getType());
}

} // namespace tiletwin::diff
