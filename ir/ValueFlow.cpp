// ir/ValueFlow.cpp -- see ValueFlow.h.
#include "ir/ValueFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;

namespace tiletwin::tt {

bool forEachValueEdge(Operation* op, llvm::function_ref<void(Value from, Value to)> edge) {
  auto all = [&](ValueRange from, ValueRange to) {
    for (auto [a, b] : llvm::zip_equal(from, to)) edge(a, b);
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    all(loop.getInitArgs(), loop.getRegionIterArgs());
    all(loop.getInitArgs(), loop.getResults()); // of a loop that does not run
    all(loop.getYieldedValues(), loop.getRegionIterArgs());
    all(loop.getYieldedValues(), loop.getResults());
    return true;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    all(loop.getInits(), loop.getBeforeArguments());
    all(loop.getConditionOp().getArgs(), loop.getAfterArguments());
    all(loop.getConditionOp().getArgs(), loop.getResults());
    all(loop.getYieldOp().getOperands(), loop.getBeforeArguments());
    return true;
  }
  if (isa<scf::IfOp, scf::ExecuteRegionOp>(op)) {
    for (Region& region : op->getRegions())
      for (Block& block : region)
        if (auto yield = dyn_cast<scf::YieldOp>(block.getTerminator())) all(yield.getOperands(), op->getResults());
    return true;
  }
  auto branch = dyn_cast<BranchOpInterface>(op);
  if (!branch) return false;
  for (unsigned i = 0; i < op->getNumSuccessors(); ++i)
    all(branch.getSuccessorOperands(i).getForwardedOperands(), op->getSuccessor(i)->getArguments());
  return true;
}

} // namespace tiletwin::tt
