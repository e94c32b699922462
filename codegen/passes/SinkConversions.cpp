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

} // namespace

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
