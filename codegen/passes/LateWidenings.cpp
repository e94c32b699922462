// codegen/passes/LateWidenings.cpp -- see LateWidenings.h.
#include "codegen/passes/LateWidenings.h"
#include "ir/Notes.h"
#include "ir/Tiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

bool isWidening(Operation* op) {
  if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, arith::SIToFPOp, arith::UIToFPOp, tt::FpToFpOp>(op))
    return false;
  auto from = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto to = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return from && to && from.getElementTypeBitWidth() < to.getElementTypeBitWidth();
}

/// True if a reduction, a loop or a branch stands in between. Over shorter distances the assembler moves instructions itself.
bool isFar(Operation* op, Operation* use) {
  for (Operation* between = op->getNextNode(); between != use; between = between->getNextNode())
    if (between->getNumRegions() > 0) return true;
  return false;
}

} // namespace

void widenLate(tt::FuncOp kernel) {
  SmallVector<Operation*> found;
  kernel.walk([&](Operation* op) {
    if (isWidening(op)) found.push_back(op);
  });
  for (Operation* op : llvm::reverse(found)) { // those behind use those in front
    Operation* first = tt::firstUser(op->getResult(0));
    if (!first || !isFar(op, first)) continue;
    op->moveBefore(first);
    for (Operation* user : llvm::make_early_inc_range(op->getUsers()))
      if (tt::isNote(user) && user->getBlock() == op->getBlock() && user->isBeforeInBlock(op)) user->moveAfter(op);
  }
}

} // namespace tiletwin::codegen
