// ir/TWOps.cpp -- registration of tw, and what its operations and attributes must obey.
#include "ir/TW.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

#include "ir/TWDialect.cpp.inc"

namespace tiletwin::tw {

void TWDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ir/TWOps.cpp.inc"
      >();
}

// tw.order: a permutation of the index bits of the axis that a tt.reduce reduces.
LogicalResult TWDialect::verifyOperationAttribute(Operation* op, NamedAttribute attribute) {
  if (attribute.getName() != "tw.order") return op->emitError() << "has an unknown attribute " << attribute.getName();
  auto reduce = dyn_cast<tt::ReduceOp>(op);
  if (!reduce) return op->emitError() << "has tw.order, which only tt.reduce may have";
  auto order = dyn_cast<DenseI32ArrayAttr>(attribute.getValue());
  if (!order) return op->emitError() << "needs an array of i32 as tw.order, got " << attribute.getValue();
  ArrayRef<int64_t> shape = op->getNumOperands() ? tt::shapeOf(op->getOperand(0).getType()) : ArrayRef<int64_t>();
  if (reduce.getAxis() >= shape.size()) return success(); // tt.reduce's own verifier says it
  unsigned bits = llvm::Log2_64(uint64_t(shape[reduce.getAxis()]));
  SmallVector<bool> seen(bits);
  bool isPermutation = size_t(order.size()) == bits;
  for (int32_t bit : order.asArrayRef()) {
    isPermutation = isPermutation && bit >= 0 && unsigned(bit) < bits && !seen[bit];
    if (isPermutation) seen[bit] = true;
  }
  if (!isPermutation)
    return op->emitError() << "needs each of the " << bits << " index bits of its axis once in tw.order, got "
                           << attribute.getValue();
  return success();
}

LogicalResult RsqrtApproxOp::verify() {
  if (getFtz() && !tt::elementTypeOf(getType()).isF32())
    return emitOpError() << "flushes denormals of f32 only, got ftz for " << getType(); // C1
  return success();
}

} // namespace tiletwin::tw

#define GET_OP_CLASSES
#include "ir/TWOps.cpp.inc"
