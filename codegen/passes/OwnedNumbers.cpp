// codegen/passes/OwnedNumbers.cpp -- see OwnedNumbers.h.
#include "codegen/passes/OwnedNumbers.h"
#include "codegen/dialect/TWG.h"
#include "codegen/passes/Notes.h"
#include "codegen/passes/WrittenMemory.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

constexpr llvm::StringLiteral kSharedLate = "twg.shared_late";

/// The first operation of a value's block in which, or in whose regions, it is used; null: it is used in another block.
Operation* firstUseOf(Value value) {
  Block* block = value.getParentBlock();
  Operation* first = nullptr;
  for (Operation* user : tt::usersOf(value)) {
    Operation* here = block->findAncestorOpInBlock(*user);
    if (!here) return nullptr;
    if (!first || here->isBeforeInBlock(first)) first = here;
  }
  return first;
}

/// Moves what is computed from the number right in front of where it is used.
void sinkUsers(Value number, unsigned depth) {
  constexpr unsigned kLongest = 4; ///< of a chain
  if (depth == kLongest) return;
  for (Operation* user : llvm::to_vector(tt::usersOf(number))) {
    const bool isPlain = user->getBlock() == number.getParentBlock() && user->getNumRegions() == 0 &&
                         user->getNumResults() == 1 && isMemoryEffectFree(user) &&
                         !isa<RankedTensorType>(user->getResult(0).getType());
    if (!isPlain) continue;
    sinkUsers(user->getResult(0), depth + 1);
    if (Operation* first = firstUseOf(user->getResult(0))) user->moveBefore(first);
    moveNotes(user->getResult(0), user->getResult(0));
  }
}

void shareLate(tt::LoadOp load) {
  sinkUsers(load.getResult(), 0);
  Operation* first = firstUseOf(load.getResult());
  if (!first || first->getPrevNode() == load) return;
  OpBuilder builder(first);
  auto share = twg::ShareOp::create(builder, load.getLoc(), load.getType(), load.getResult());
  load.getResult().replaceUsesWithIf(
      share.getResult(), [&](OpOperand& use) { return use.getOwner() != share && !tt::isNote(use.getOwner()); });
  load->setAttr(kSharedLate, builder.getUnitAttr());
  moveNotes(load.getResult(), share.getResult());
}

} // namespace

void shareNumbersLate(tt::FuncOp kernel) {
  SmallVector<tt::LoadOp> loads;
  kernel.walk([&](tt::LoadOp load) {
    if (!isa<RankedTensorType>(load.getType()) && ownerReads(load) && !load->use_empty()) loads.push_back(load);
  });
  for (tt::LoadOp load : loads) shareLate(load);
}

bool isSharedLate(tt::LoadOp load) { return load->hasAttr(kSharedLate); }

} // namespace tiletwin::codegen
