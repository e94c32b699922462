#include "ir/DotSums.h"
#include "ir/Notes.h"
#include "ir/TT.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tiletwin::tt {
namespace {

bool isSum(Operation* op) { return isa<arith::AddFOp, arith::AddIOp>(op); }

bool isZero(Value value) {
  if (auto splat = value.getDefiningOp<SplatOp>()) value = splat.getSrc();
  return matchPattern(value, m_Zero()) || matchPattern(value, m_AnyZeroFloat());
}

OpOperand* accumulatorOf(Operation* op) {
  if (auto dot = dyn_cast_if_present<DotOp>(op)) return &dot.getCMutable();
  if (auto dot = dyn_cast_if_present<DotScaledOp>(op)) return &dot.getCMutable();
  return nullptr;
}

/// True if the product could as well begin with something else than its accumulator.
bool isFoldable(Operation* op) {
  OpOperand* accumulator = accumulatorOf(op);
  if (!accumulator || !isZero(accumulator->get())) return false;
  auto dot = dyn_cast<DotOp>(op);
  return !dot || dot.getMaxNumImpreciseAcc() == 0 || isa<IntegerType>(elementTypeOf(dot.getType()));
}

void fold(Operation* sum) {
  for (unsigned at : {1, 0}) {
    Operation* dot = sum->getOperand(at).getDefiningOp();
    if (!isFoldable(dot) || dot->getBlock() != sum->getBlock() || !hasOneUse(dot->getResult(0))) continue;
    OpOperand* accumulator = accumulatorOf(dot);
    Operation* zero = accumulator->get().getDefiningOp();
    accumulator->set(sum->getOperand(1 - at));
    dot->moveBefore(sum); // behind what it is added to
    sum->getResult(0).replaceAllUsesWith(dot->getResult(0));
    sum->erase();
    if (zero->use_empty()) zero->erase();
    return;
  }
}

} // namespace

Operation* dotInSum(Operation* sum) {
  if (!isSum(sum)) return nullptr;
  for (Value operand : llvm::reverse(sum->getOperands()))
    if (Operation* dot = operand.getDefiningOp(); isFoldable(dot)) return dot;
  return nullptr;
}

void foldDotSums(Operation* root) {
  SmallVector<Operation*> sums;
  root->walk([&](Operation* op) {
    if (isSum(op)) sums.push_back(op);
  });
  for (Operation* sum : sums) fold(sum);
}

} // namespace tiletwin::tt
