// interp/plan/StraightRegions.cpp -- see Regions.h.
// Idea: each block knows whether the program comes to it, as an i1: the disjunction of the edges that lead to it. Exactly one
//       edge into such a block is taken, so a chain of selects over the edges finds its arguments.
// Invariant: nothing in such a region traps or has an effect in the interpreter, so that what is not reached may be computed.
#include "interp/plan/Regions.h"
#include "ir/TT.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace tiletwin::interp {
namespace {

using namespace mlir;

/// A way into a block, or out of the region.
struct Edge {
  Value condition; ///< null: always taken
  SmallVector<Value> operands;
};

class Straighten {
public:
  explicit Straighten(Region& region) : region_(region), builder_(region.getContext()) {}

  /// Moves all operations of the region, but for terminators, before `place`. Gives what the region's results are.
  SmallVector<Value> moveBefore(Operation* place);

private:
  template <class Op> Value both(Value a, Value b) {
    return a && b ? Value(Op::create(builder_, place_, a, b)) : Value();
  }
  Value joined(llvm::ArrayRef<Edge> edges);
  SmallVector<Value> chosen(llvm::ArrayRef<Edge> edges);
  void leave(Block& block, Value reached);

  Region& region_;
  OpBuilder builder_;
  Location place_ = region_.getLoc();
  llvm::DenseMap<Block*, SmallVector<Edge>> into_;
  SmallVector<Edge> out_;
};

/// Whether one of the edges is taken; null: always.
Value Straighten::joined(llvm::ArrayRef<Edge> edges) {
  Value any = edges.front().condition;
  for (const Edge& edge : edges.drop_front()) any = both<arith::OrIOp>(any, edge.condition);
  return any;
}

SmallVector<Value> Straighten::chosen(llvm::ArrayRef<Edge> edges) {
  SmallVector<Value> values = edges.front().operands;
  for (const Edge& edge : edges.drop_front())
    for (auto [value, other] : llvm::zip_equal(values, edge.operands))
      if (value != other)
        value = edge.condition ? Value(arith::SelectOp::create(builder_, place_, edge.condition, other, value)) : other;
  return values;
}

void Straighten::leave(Block& block, Value reached) {
  Operation* terminator = block.getTerminator();
  auto with = [&](Value condition) { return reached ? both<arith::AndIOp>(reached, condition) : condition; };
  if (auto jump = dyn_cast<cf::BranchOp>(terminator)) {
    into_[jump.getDest()].push_back({reached, llvm::to_vector(jump.getDestOperands())});
  } else if (auto branch = dyn_cast<cf::CondBranchOp>(terminator)) {
    Value condition = branch.getCondition();
    Value yes = arith::ConstantOp::create(builder_, place_, builder_.getBoolAttr(true));
    Value otherwise = arith::XOrIOp::create(builder_, place_, condition, yes);
    into_[branch.getTrueDest()].push_back({with(condition), llvm::to_vector(branch.getTrueDestOperands())});
    into_[branch.getFalseDest()].push_back({with(otherwise), llvm::to_vector(branch.getFalseDestOperands())});
  } else {
    out_.push_back({reached, llvm::to_vector(terminator->getOperands())});
  }
}

SmallVector<Value> Straighten::moveBefore(Operation* place) {
  builder_.setInsertionPoint(place);
  for (Block* block : getBlocksSortedByDominance(region_)) {
    Value reached;
    if (!block->isEntryBlock()) {
      llvm::ArrayRef<Edge> edges = into_[block];
      reached = joined(edges);
      for (auto [argument, value] : llvm::zip_equal(block->getArguments(), chosen(edges)))
        argument.replaceAllUsesWith(value);
    }
    for (Operation& op : llvm::make_early_inc_range(block->without_terminator())) op.moveBefore(place);
    leave(*block, reached);
  }
  return chosen(out_);
}

/// Several blocks, and no way back to one that the program has been to.
bool canBeStraight(Region& region) {
  if (region.hasOneBlock()) return false;
  llvm::DenseSet<Block*> seen;
  for (Block* block : getBlocksSortedByDominance(region)) {
    seen.insert(block);
    if (!isa<cf::BranchOp, cf::CondBranchOp>(block->getTerminator()) && block->getNumSuccessors()) return false;
    if (llvm::any_of(block->getSuccessors(), [&](Block* next) { return seen.contains(next); })) return false;
  }
  return seen.size() == region.getBlocks().size(); // no block that nothing leads to
}

/// What calls left inside of reductions and scans, inner ones first.
SmallVector<Operation*> calledInside(Operation* func) {
  SmallVector<Operation*> found;
  func->walk([&](scf::ExecuteRegionOp op) {
    if (!op->getParentOfType<tt::ReduceOp>() && !op->getParentOfType<tt::ScanOp>()) return;
    if (op.getRegion().hasOneBlock() || canBeStraight(op.getRegion())) found.push_back(op);
  });
  return found;
}

} // namespace

bool hasBranchingRegions(Operation* func) { return !calledInside(func).empty(); }

void straightenRegions(Operation* func) {
  for (Operation* op : calledInside(func)) {
    op->replaceAllUsesWith(Straighten(op->getRegion(0)).moveBefore(op));
    op->erase();
  }
}

} // namespace tiletwin::interp
