// codegen/passes/SinkConversions.cpp -- see SinkConversions.h.
#include "codegen/passes/SinkConversions.h"
#include "codegen/passes/Notes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

/// The region of a branch that all users of a value are in; null: another operation of its block uses it.
Region* branchOfUsers(Operation* op) {
  Region* branch = nullptr;
  for (Operation* user : op->getUsers()) {
    if (tt::isNote(user)) continue;
    Operation* outer = op->getBlock()->findAncestorOpInBlock(*user);
    if (outer == user || !isa_and_nonnull<scf::IfOp>(outer)) return nullptr;
    Region* region = user->getParentRegion();
    while (region->getParentOp() != outer) region = region->getParentOp()->getParentRegion();
    if (branch && region != branch) return nullptr;
    branch = region;
  }
  return branch;
}

/// Registers that a conversion may hold all along a loop, instead of threads that wait for each other in each iteration.
constexpr unsigned kFewRegisters = 16;

/// The operations of a loop's body of which a conversion consists, in order, if nothing of it changes there; else none.
SmallVector<Operation*> sameInEachIteration(twg::ConvertLayoutOp convert, scf::ForOp loop) {
  if (twg::layoutOf(convert.getResult()).registers() > kFewRegisters) return {};
  SmallVector<Operation*> found;
  Operation* op = convert;
  while (op && op->getBlock() == loop.getBody()) {
    if (!isa<twg::ConvertLayoutOp, tt::ExpandDimsOp, tt::ReshapeOp>(op)) return {};
    found.push_back(op);
    Value source = op->getOperand(0);
    if (auto carried = dyn_cast<BlockArgument>(source); carried && carried.getOwner() == loop.getBody()) return {};
    op = source.getDefiningOp();
  }
  std::reverse(found.begin(), found.end());
  return found;
}

} // namespace

void hoistConversions(tt::FuncOp kernel) {
  kernel.walk([&](scf::ForOp loop) {
    if (loop->hasAttr("llvm.loop_annotation")) return; // disable_licm
    for (auto convert : llvm::make_early_inc_range(loop.getBody()->getOps<twg::ConvertLayoutOp>()))
      for (Operation* op : sameInEachIteration(convert, loop)) op->moveBefore(loop);
  });
}

void sinkConversions(tt::FuncOp kernel) {
  SmallVector<Operation*> conversions;
  kernel.walk([&](twg::ConvertLayoutOp convert) { conversions.push_back(convert); });
  for (Operation* convert : llvm::reverse(conversions)) // those behind use those in front
    while (Region* branch = branchOfUsers(convert)) {
      Operation* first = branch->front().getTerminator();
      moveNotes(convert->getResult(0), {});
      for (Operation* user : convert->getUsers())
        if (Operation* op = branch->front().findAncestorOpInBlock(*user); op->isBeforeInBlock(first)) first = op;
      convert->moveBefore(first);
    }
}

} // namespace tiletwin::codegen
