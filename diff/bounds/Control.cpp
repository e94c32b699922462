// diff/bounds/Control.cpp -- shadows through loops, branches and scalar code: they are carried beside the values.
// Not here:  what decisions that may differ leave unknown (Decisions.cpp), which values may differ (Flow.cpp), shadows of
//            single operations (*Ops.cpp).
#include "diff/bounds/Builder.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include <utility>

using namespace mlir;

namespace tiletwin::diff {

/// The shadow of a value that has none, where others have.
Value Builder::noShadow(Type type) { return isBool(type) ? truth(type, false) : zero(type); }

void Builder::widened(Operation* op, Operation* wider) {
  for (auto [old, now] : llvm::zip(op->getResults(), wider->getResults())) {
    if (isInexact(old)) inexact_.insert(now);
    if (ordered_.contains(old)) ordered_.insert(now);
    if (mayWrap(old)) wrapping_.insert(now);
    if (auto at = roots_.find(old); at != roots_.end()) {
      llvm::BitVector roots = at->second; // inserting may move it
      roots_[now] = roots;
    }
  }
  kernelOps_.erase(op);
}

/// From the first round on that only one side may go into, the loop carries that along: `doubt`.
Operation* Builder::shadowWhile(Operation* op, Value& doubt) {
  auto loop = cast<scf::WhileOp>(op);
  const bool open = isOpen(op), isOrdered = ordered_.contains(loop.getConditionOp().getCondition());
  llvm::BitVector written = writtenIn(loop.getBefore());
  written |= writtenIn(loop.getAfter());
  tt::CarriedValues further;
  if (open) further = {{noShadow(getI1Type())}, {getI1Type()}, {}, {}};
  const Value outer = doubt_;
  Value since;
  auto enter = [&](Region& region, ValueRange carried) {
    if (!open) return;
    since = carried.front();
    setInsertionPointToStart(&region.front());
    doubt_ = either(outer, since);
  };
  auto leave = [&](Operation* end) -> SmallVector<Value> {
    auto condition = dyn_cast<scf::ConditionOp>(end);
    if (Value differs = condition ? of(condition.getCondition()) : Value()) {
      note(differs, Reason::Branch);
      noteOpen(both(differs, invert(condition.getCondition())), written);
      if (isOrdered) noteEverything(differs);
      since = either(since, differs);
    }
    if (!open) return {};
    return {since};
  };
  further.enter = enter;
  further.leave = leave;
  Operation* made = shadowThrough(op, further);
  if (open) doubt = made->getResults().back();
  return made;
}

/// Scalar code for each lane: beside the operation one that has the operands' shadows too, and computes the results'.
void Builder::shadowMap(Operation* op) {
  auto map = cast<tt::MapElementwiseOp>(op);
  const unsigned pack = unsigned(map.getPack());
  SmallVector<unsigned> from = needed(map.getSrcs()), to = needed(op->getResults());
  if (to.empty()) return;
  setInsertionPointAfter(op);
  OperationState state(getLoc(), op->getName(), op->getOperands(), op->getResultTypes(), op->getAttrs());
  state.addOperands(shadowsOf(map.getSrcs(), from));
  for (unsigned i : to) state.addTypes(shadowType(op->getResult(i).getType()));
  IRMapping mapping;
  op->getRegion(0).cloneInto(state.addRegion(), mapping);
  Operation* made = create(state);
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
  addShadowArguments(body, lanes(from));
  const Value outer = std::exchange(doubt_, Value());
  isInScalarCode_ = true;
  shadowRegion(made->getRegion(0));
  isInScalarCode_ = false;
  doubt_ = outer;
  Operation* end = body.getTerminator();
  setInsertionPoint(end);
  end->insertOperands(end->getNumOperands(), shadowsOf(end->getOperands(), lanes(to)));
  setInsertionPointAfter(made);
  for (auto [k, i] : llvm::enumerate(to)) {
    Value shadow = shadows_[op->getResult(i)] = made->getResult(op->getNumResults() + unsigned(k));
    if (isBool(shadow.getType())) continue;
    note(invert(compare(Predicate::OLT, shadow, infinity(shadow.getType()))), Reason::Branch);
  }
}

void Builder::shadowControl(Operation* op) {
  const unsigned count = op->getNumResults();
  const Value outer = doubt_;
  Value doubt = decide(op);
  if (!isa<cf::CondBranchOp>(op)) doubt_ = either(outer, doubt);
  if (isa<BranchOpInterface>(op))
    shadowBranch(op);
  else
    doubtResults(isa<scf::WhileOp>(op) ? shadowWhile(op, doubt) : shadowThrough(op), count, doubt);
  doubt_ = outer;
}

void Builder::shadowOp(Operation* op) {
  if (!kernelOps_.contains(op)) return;
  followAddresses(op);
  if (isControl(op)) return shadowControl(op);
  if (isScalarCode(op)) return shadowMap(op);
  const Rule* rule = ruleFor(op);
  if (!op->hasTrait<OpTrait::IsTerminator>()) setInsertionPointAfter(op);
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
  for (Value operand : op->getOperands()) some = either(some, anyLane(mayDiffer(operand)));
  if (!some) return {};
  if (isa<RankedTensorType>(result.getType())) some = splat(some, result.getType());
  note(some, Reason::NoRule);
  return isBool(result.getType()) ? some : unknownWhere(some, Reason::NoRule, {}, result.getType());
}

} // namespace tiletwin::diff
