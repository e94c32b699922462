// diff/bounds/Decisions.cpp -- what is not known any more where a condition, the bounds of a loop or an address may differ.
// Not here:  shadows through loops and branches (Control.cpp).
// Idea:      where a condition may differ, the other side may be in the other branch, or in another round of the loop. Whatever
//            this side writes there gets an infinite bound, and so do the results. What the other side may have written there
//            instead is not known by element: the arguments that it writes through are noted as open, and nothing of their
//            memory is judged. What neither reaches keeps its bounds.
// Invariant: `doubt_` holds at run time wherever this program may be at a place at which the other side's is not.
#include "diff/bounds/Builder.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tiletwin::diff {

bool isControl(Operation* op) {
  return isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::ExecuteRegionOp, BranchOpInterface>(op);
}

bool isScalarCode(Operation* op) {
  if (!isa<tt::MapElementwiseOp>(op)) return false;
  auto isPlain = [](Operation* inner) {
    return (inner->hasTrait<OpTrait::IsTerminator>() || inner->getNumRegions() || isMemoryEffectFree(inner)) &&
           llvm::none_of(inner->getOperandTypes(), isAddress) && llvm::none_of(inner->getResultTypes(), isAddress);
  };
  WalkResult all = op->getRegion(0).walk(
      [&](Operation* inner) { return isPlain(inner) ? WalkResult::advance() : WalkResult::interrupt(); });
  return !all.wasInterrupted();
}

// ---- decisions ----

/// What decides which way an operation goes, or how often.
static SmallVector<Value> decidersOf(Operation* op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) return {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
  if (auto loop = dyn_cast<scf::WhileOp>(op)) return {loop.getConditionOp().getCondition()};
  if (isa<scf::IfOp, cf::CondBranchOp>(op)) return {op->getOperand(0)};
  return {};
}

bool Builder::isOpen(Operation* op) const {
  return llvm::any_of(decidersOf(op), [&](Value value) { return isInexact(value); });
}

bool Builder::isInOpen(Operation* op) const {
  for (Operation* at = op->getParentOp(); at && !isa<tt::FuncOp>(at); at = at->getParentOp())
    if (isOpen(at)) return true;
  return false;
}

/// Results of what an inexact value decides are inexact. What atomics return depends on the order of programs, and what
/// that decides orders programs.
bool Builder::flowOfDecision(Operation* op) {
  bool changed = false;
  auto mark = [&](ValueRange values) {
    for (Value value : values)
      if (!isAddress(value.getType())) changed |= inexact_.insert(value).second;
  };
  auto isKnownOrdered = [&](Value value) { return ordered_.contains(value); };
  const SmallVector<Value> deciders = decidersOf(op);
  if (isOpen(op)) {
    mark(op->getResults());
    // What carries the results.
    if (auto loop = dyn_cast<scf::ForOp>(op)) mark(loop.getRegionIterArgs());
    if (auto loop = dyn_cast<scf::WhileOp>(op)) mark(loop.getAfterArguments());
  }
  if (isa<tt::AtomicRMWOp, tt::AtomicCASOp, tt::AtomicPollOp>(op) || llvm::any_of(deciders, isKnownOrdered) ||
      (!isControl(op) && llvm::any_of(op->getOperands(), isKnownOrdered)))
    for (Value result : op->getResults()) changed |= ordered_.insert(result).second;
  if (auto map = dyn_cast<tt::MapElementwiseOp>(op); map && isScalarCode(op)) {
    Block& body = op->getRegion(0).front();
    const unsigned pack = unsigned(map.getPack());
    for (auto [i, argument] : llvm::enumerate(body.getArguments())) changed |= flow(map.getSrcs()[i / pack], argument);
    for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands()))
      changed |= flow(value, op->getResult(unsigned(i) / pack));
  }
  return changed;
}

/// The arguments that operations of a region may write through.
llvm::BitVector Builder::writtenIn(Region& region) const {
  llvm::BitVector written(written_.size());
  region.walk([&](Operation* op) {
    if (stores_.contains(op)) written |= rootsOf(op->getOperand(0));
  });
  return written;
}

/// Where the other side may go another way here, a scalar; null: nowhere. Notes what it may write there.
Value Builder::decide(Operation* op) {
  Value doubt;
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    Value condition = branch.getCondition();
    doubt = of(condition);
    if (doubt) {
      noteOpen(both(doubt, invert(condition)), writtenIn(branch.getThenRegion()));
      noteOpen(both(doubt, condition), writtenIn(branch.getElseRegion()));
    }
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (Value bound : decidersOf(op)) doubt = either(doubt, mayDiffer(bound));
    if (doubt) noteOpen(doubt, writtenIn(loop.getRegion()));
  } else if (isa<cf::CondBranchOp>(op)) {
    doubt = of(op->getOperand(0));
    noteEverything(doubt); // where the ways meet again is not known
  }
  note(doubt, Reason::Branch);
  if (llvm::any_of(decidersOf(op), [&](Value value) { return ordered_.contains(value); })) noteEverything(doubt);
  return doubt;
}

/// Nothing is known about the results of a decision where `doubt` holds.
void Builder::doubtResults(Operation* made, unsigned count, Value doubt) {
  if (!doubt) return;
  setInsertionPointAfter(made);
  for (OpResult result : made->getResults().take_front(count)) {
    Type type = result.getType();
    if (isAddress(type))
      noteEverything(doubt);
    else if (isBool(type))
      shadows_[result] = either(of(result), spread(doubt, type));
    else
      shadows_[result] = infiniteWhere(spread(doubt, type), of(result), type);
  }
}

// ---- addresses ----

/// Which lanes of an address may differ. Loads and stores look at that; what else is done with such an address leaves
/// nothing known.
void Builder::followAddresses(Operation* op) {
  Value where;
  if (auto add = dyn_cast<tt::AddPtrOp>(op)) {
    where = either(astray(add.getPtr()), mayDiffer(add.getOffset()));
  } else if (auto select = dyn_cast<arith::SelectOp>(op); select && isAddress(select.getType())) {
    where = either(either(astray(select.getTrueValue()), astray(select.getFalseValue())),
                   spread(of(select.getCondition()), select.getType()));
  } else if (isa<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp>(op)) {
    if (Value lanes = astray(op->getOperand(0)))
      where = cloneFor(op, lanes, tt::i1TypeLike(op->getResult(0).getType()))->getResult(0);
  } else {
    const bool looks =
        isa<tt::PrefetchOp, tt::StoreOp>(op) || (isa<tt::LoadOp>(op) && !isAddress(op->getResult(0).getType()));
    for (Value operand : op->getOperands().drop_front(looks ? 1 : 0)) noteEverything(astray(operand));
  }
  if (where) astray_[op->getResult(0)] = where;
}

} // namespace tiletwin::diff
