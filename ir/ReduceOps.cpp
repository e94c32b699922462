// ir/ReduceOps.cpp -- verifiers of tt.reduce, tt.scan and tt.histogram.
#include "ir/TT.h"

using namespace mlir;

namespace tiletwin::tt {

// C1, C2, C4 and C5, which reduce and scan share.
static LogicalResult verifyCombine(Operation* op, OperandRange srcs, int64_t axis, Region& region,
                                   StringRef terminator) {
  if (srcs.empty()) return op->emitOpError() << "needs at least one operand"; // C1
  auto first = cast<RankedTensorType>(srcs[0].getType());
  SmallVector<Type> elements;
  for (Type type : srcs.getTypes()) {
    if (shapeOf(type) != first.getShape())
      return op->emitOpError() << "needs operands of one shape, got " << shapeText(first) << " and "
                               << shapeText(type); // C1
    elements.push_back(elementTypeOf(type));
  }
  if (axis < 0 || axis >= first.getRank())
    return op->emitOpError() << "needs 0 <= axis < " << first.getRank() << ", got " << axis; // C2
  SmallVector<Type> pairs(elements);
  pairs.append(elements.begin(), elements.end());
  Block& block = region.front();
  if (TypeRange(block.getArgumentTypes()) != TypeRange(pairs))
    return op->emitOpError() << "needs a region with " << pairs.size()
                             << " arguments: the operands' element types, twice"; // C4
  Operation* end = block.empty() ? nullptr : &block.back();
  if (!end || end->getName().getStringRef() != terminator || TypeRange(end->getOperandTypes()) != TypeRange(elements))
    return op->emitOpError() << "needs a region that ends in " << terminator << " of the " << elements.size()
                             << " element types"; // C5
  return success();
}

LogicalResult ReduceOp::verify() {
  int64_t axis = int32_t(getAxis());
  if (failed(verifyCombine(*this, getSrcs(), axis, getCombineOp(), "tt.reduce.return"))) return failure();
  if (getNumResults() != getSrcs().size())
    return emitOpError() << "needs " << getSrcs().size() << " results, got " << getNumResults(); // C3
  for (auto [src, result] : llvm::zip_equal(getSrcs().getTypes(), getResultTypes())) {
    auto tile = cast<RankedTensorType>(src);
    SmallVector<int64_t> shape(tile.getShape());
    shape.erase(shape.begin() + axis);
    auto given = dyn_cast<RankedTensorType>(result);
    Type wanted = tile.getElementType(); // layouts may differ: they are the code generator's business
    if (!shape.empty()) wanted = RankedTensorType::get(shape, wanted, given ? given.getEncoding() : Attribute());
    if (result != wanted) return emitOpError() << "gives " << wanted << ", but its result is " << result; // C3
  }
  return success();
}

LogicalResult ScanOp::verify() {
  if (failed(verifyCombine(*this, getSrcs(), int32_t(getAxis()), getCombineOp(), "tt.scan.return"))) return failure();
  if (TypeRange(getResultTypes()) != TypeRange(getSrcs().getTypes()))
    return emitOpError() << "needs one result per operand, of its type"; // C3
  return success();
}

LogicalResult HistogramOp::verify() {
  if (getSrc().getType().getRank() != 1 || getResult().getType().getRank() != 1)
    return emitOpError() << "needs tiles of rank 1, got " << shapeText(getSrc().getType()) << " and "
                         << shapeText(getResult().getType()); // C1
  return success();
}

} // namespace tiletwin::tt
