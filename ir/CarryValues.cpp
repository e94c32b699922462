// ir/CarryValues.cpp -- see CarryValues.h.
#include "ir/CarryValues.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/RegionGraphTraits.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/PostOrderIterator.h"

using namespace mlir;

namespace tiletwin::tt {

// ---- one operation ----

/// The operation once more, with more operands and results. Its regions are empty, or what scf makes of them.
static Operation* makeWider(OpBuilder& builder, Operation* op, const CarriedValues& carried) {
  SmallVector<Type> types(op->getResultTypes());
  types.append(carried.results);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return scf::IfOp::create(builder, op->getLoc(), types, branch.getCondition(), /*withElseRegion=*/true);
  if (isa<scf::ExecuteRegionOp>(op)) return scf::ExecuteRegionOp::create(builder, op->getLoc(), types);
  SmallVector<Value> inits(cast<LoopLikeOpInterface>(op).getInits());
  inits.append(carried.inits);
  if (isa<scf::WhileOp>(op)) return scf::WhileOp::create(builder, op->getLoc(), types, inits);
  auto loop = cast<scf::ForOp>(op);
  return scf::ForOp::create(builder, op->getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits,
                            nullptr, loop.getUnsignedCmp());
}

/// The types of what is carried into a region. The second region of an scf.while is entered with what the first one hands on.
static SmallVector<Type> typesInto(Operation* op, Region& region, const CarriedValues& carried) {
  if (isa<scf::WhileOp>(op) && region.getRegionNumber() == 1) return carried.results;
  return llvm::map_to_vector(carried.inits, [](Value value) { return value.getType(); });
}

static void leaveRegion(OpBuilder& builder, Region& region, const CarriedValues& carried) {
  for (Block& block : region) {
    Operation* end = block.getTerminator();
    if (!isa<scf::YieldOp, scf::ConditionOp>(end)) continue;
    builder.setInsertionPoint(end);
    end->insertOperands(end->getNumOperands(), carried.leave(end));
  }
}

Operation* carryValues(OpBuilder& builder, Operation* op, const CarriedValues& carried) {
  Operation* made = op;
  if (!carried.inits.empty() || !carried.results.empty()) {
    builder.setInsertionPoint(op);
    made = makeWider(builder, op, carried);
    made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  }
  for (Region& region : made->getRegions()) {
    SmallVector<Type> types = typesInto(made, region, carried);
    if (Region& old = op->getRegion(region.getRegionNumber()); made != op && !old.empty()) region.takeBody(old);
    if (region.empty()) continue;
    Block& first = region.front();
    if (!first.mightHaveTerminator()) { // of a branch that had no `else`
      builder.setInsertionPointToEnd(&first);
      scf::YieldOp::create(builder, op->getLoc());
    }
    const unsigned own = first.getNumArguments();
    first.addArguments(types, SmallVector<Location>(types.size(), op->getLoc()));
    carried.enter(region, first.getArguments().drop_front(own));
    leaveRegion(builder, region, carried);
  }
  builder.setInsertionPointAfter(made);
  return made;
}

void replaceByWider(Operation* op, Operation* wider) {
  op->replaceAllUsesWith(wider->getResults().take_front(op->getNumResults()));
  op->erase();
}

// ---- shadows ----

/// The arguments of a region that its operation hands values to.
static ValueRange argumentsOf(Region& region) {
  if (auto loop = dyn_cast<scf::ForOp>(region.getParentOp())) return loop.getRegionIterArgs();
  return region.getArguments();
}

/// What an operation that leaves a region hands on.
static ValueRange handedOn(Operation* end) {
  if (auto condition = dyn_cast<scf::ConditionOp>(end)) return condition.getArgs();
  return end->getOperands();
}

Operation* ShadowWalk::shadowThrough(Operation* op, const CarriedValues& further) {
  // Rounds of a loop begin with the first ones; the second ones are results, and go into the second region of an scf.while.
  SmallVector<unsigned> rounds, results;
  SmallVector<Value> inits;
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    rounds = needed(argumentsOf(op->getRegion(0)));
    inits = shadowsOf(loop.getInits(), rounds);
  }
  results =
      isa<scf::ForOp>(op) ? rounds : needed(isa<scf::WhileOp>(op) ? argumentsOf(op->getRegion(1)) : op->getResults());
  SmallVector<Type> types;
  for (unsigned i : results) types.push_back(shadowTypeOf(op->getResult(i).getType()));
  inits.append(further.inits);
  types.append(further.results);
  auto enter = [&](Region& region, ValueRange carried) {
    const size_t shadows = carried.size() - (carried.empty() ? 0 : further.results.size());
    ArrayRef<unsigned> which = region.getRegionNumber() == 0 ? rounds : results;
    for (size_t k = 0; k < shadows; ++k) shadows_[argumentsOf(region)[which[k]]] = carried[k];
    if (further.enter) further.enter(region, carried.drop_front(shadows));
    shadowRegion(region);
  };
  auto leave = [&](Operation* end) {
    SmallVector<Value> more = further.leave ? further.leave(end) : SmallVector<Value>();
    const bool goesRound = isa<scf::WhileOp>(end->getParentOp()) && isa<scf::YieldOp>(end);
    SmallVector<Value> values = shadowsOf(handedOn(end), goesRound ? rounds : results);
    values.append(more);
    return values;
  };
  Operation* made = carryValues(*this, op, {inits, types, enter, leave});
  if (made == op) return op;
  for (auto [k, i] : llvm::enumerate(results))
    shadows_[made->getResult(i)] = made->getResult(op->getNumResults() + unsigned(k));
  widened(op, made);
  replaceByWider(op, made);
  return made;
}

void ShadowWalk::shadowBranch(Operation* op) {
  auto branch = cast<BranchOpInterface>(op);
  for (unsigned i = 0; i < op->getNumSuccessors(); ++i) {
    SuccessorOperands operands = branch.getSuccessorOperands(i);
    SmallVector<Value> values(operands.getForwardedOperands());
    operands.append(shadowsOf(values, needed(op->getSuccessor(i)->getArguments())));
  }
}

void ShadowWalk::shadowRegion(Region& region) {
  if (region.empty()) return;
  InsertionGuard guard(*this);
  for (Block& block : llvm::drop_begin(region.getBlocks())) addShadowArguments(block, needed(block.getArguments()));
  SmallVector<Block*> order;
  for (Block* block : llvm::ReversePostOrderTraversal<Region*>(&region)) order.push_back(block);
  for (Block* block : order)
    for (Operation& op : llvm::make_early_inc_range(*block)) {
      setInsertionPoint(&op);
      setLoc(op.getLoc());
      shadowOp(&op);
    }
}

SmallVector<unsigned> ShadowWalk::needed(ValueRange values) const {
  SmallVector<unsigned> which;
  for (auto [i, value] : llvm::enumerate(values))
    if (needsShadow(value)) which.push_back(unsigned(i));
  return which;
}

SmallVector<Value> ShadowWalk::shadowsOf(ValueRange values, ArrayRef<unsigned> which) {
  SmallVector<Value> result;
  for (unsigned i : which) {
    Value shadow = of(values[i]);
    result.push_back(shadow ? shadow : noShadow(values[i].getType()));
  }
  return result;
}

void ShadowWalk::addShadowArguments(Block& block, ArrayRef<unsigned> which) {
  for (unsigned i : which) {
    Value argument = block.getArgument(i);
    shadows_[argument] = block.addArgument(shadowTypeOf(argument.getType()), argument.getLoc());
  }
}

} // namespace tiletwin::tt
