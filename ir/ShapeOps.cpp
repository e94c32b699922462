// ir/ShapeOps.cpp -- verifiers of the operations that make and rearrange tiles. Their folders are in Folding.cpp.
#include "ir/TT.h"

using namespace mlir;

namespace tiletwin::tt {

static LogicalResult verifyElementType(Operation* op, Type from, Type to) {
  if (elementTypeOf(from) == elementTypeOf(to)) return success();
  return op->emitOpError() << "needs one element type, got " << elementTypeOf(from) << " and " << elementTypeOf(to);
}

LogicalResult MakeRangeOp::verify() {
  int32_t start = int32_t(getStart()), end = int32_t(getEnd());
  if (start >= end) return emitOpError() << "needs start < end, got " << start << " and " << end; // C1
  ArrayRef<int64_t> shape = getResult().getType().getShape();
  int64_t count = int64_t(end) - start;
  if (shape.size() != 1 || shape[0] != count)
    return emitOpError() << "has " << count << " numbers (end - start), but its result has shape "
                         << shapeText(getResult().getType()); // C2
  return success();
}

LogicalResult SplatOp::verify() { return verifyElementType(*this, getSrc().getType(), getResult().getType()); } // C1

LogicalResult UnsplatOp::verify() {
  if (getSrc().getType().getNumElements() != 1)
    return emitOpError() << "needs a tile of one element, got " << shapeText(getSrc().getType()); // C1
  return success();
}

LogicalResult ExpandDimsOp::verify() {
  ArrayRef<int64_t> from = getSrc().getType().getShape();
  int64_t axis = int32_t(getAxis());
  if (axis < 0 || axis > int64_t(from.size()))
    return emitOpError() << "needs 0 <= axis <= " << from.size() << ", got " << axis; // C1
  SmallVector<int64_t> wanted(from);
  wanted.insert(wanted.begin() + axis, 1);
  if (getResult().getType().getShape() != ArrayRef(wanted))
    return emitOpError() << "gives shape "
                         << shapeText(RankedTensorType::get(wanted, getSrc().getType().getElementType()))
                         << " for axis " << axis << ", but its result has " << shapeText(getResult().getType()); // C2
  return verifyElementType(*this, getSrc().getType(), getResult().getType());                                    // C3
}

LogicalResult BroadcastOp::verify() {
  ArrayRef<int64_t> from = getSrc().getType().getShape(), to = getResult().getType().getShape();
  if (from.size() != to.size())
    return emitOpError() << "needs equal ranks, got " << shapeText(getSrc().getType()) << " and "
                         << shapeText(getResult().getType()); // C1
  for (auto [source, target] : llvm::zip_equal(from, to))
    if (source != 1 && source != target)
      return emitOpError() << "cannot turn " << shapeText(getSrc().getType()) << " into "
                           << shapeText(getResult().getType());               // C2
  return verifyElementType(*this, getSrc().getType(), getResult().getType()); // C3
}

LogicalResult ReshapeOp::verify() {
  if (getSrc().getType().getNumElements() != getResult().getType().getNumElements())
    return emitOpError() << "needs equal element counts, got " << shapeText(getSrc().getType()) << " and "
                         << shapeText(getResult().getType());                 // C1
  return verifyElementType(*this, getSrc().getType(), getResult().getType()); // C2
}

LogicalResult TransOp::verify() {
  ArrayRef<int64_t> from = getSrc().getType().getShape();
  SmallVector<int32_t> sorted(getOrder());
  llvm::sort(sorted);
  bool isPermutation = sorted.size() == from.size();
  for (size_t d = 0; isPermutation && d < sorted.size(); ++d) isPermutation = sorted[d] == int32_t(d);
  if (!isPermutation) return emitOpError() << "needs an order that permutes 0 .. " << from.size() - 1; // C1
  SmallVector<int64_t> wanted;
  for (int32_t d : getOrder()) wanted.push_back(from[d]);
  if (getResult().getType().getShape() != ArrayRef(wanted))
    return emitOpError() << "gives shape "
                         << shapeText(RankedTensorType::get(wanted, getSrc().getType().getElementType()))
                         << ", but its result has " << shapeText(getResult().getType()); // C2
  return verifyElementType(*this, getSrc().getType(), getResult().getType());            // C3
}

static LogicalResult verifyHalf(Operation* op, RankedTensorType half, RankedTensorType whole) {
  SmallVector<int64_t> wanted(half.getShape());
  wanted.push_back(2);
  if (whole.getShape() != ArrayRef(wanted))
    return op->emitOpError() << "needs halves of shape S and a whole of shape Sx2, got " << shapeText(half) << " and "
                             << shapeText(whole);
  return verifyElementType(op, half, whole);
}

LogicalResult JoinOp::verify() { return verifyHalf(*this, getLhs().getType(), getResult().getType()); }  // C1 C2
LogicalResult SplitOp::verify() { return verifyHalf(*this, getOutLHS().getType(), getSrc().getType()); } // C1 C2 C3

LogicalResult CatOp::verify() {
  SmallVector<int64_t> wanted(getLhs().getType().getShape());
  wanted[0] *= 2;
  if (getResult().getType().getShape() != ArrayRef(wanted))
    return emitOpError() << "gives shape "
                         << shapeText(RankedTensorType::get(wanted, getLhs().getType().getElementType()))
                         << ", but its result has " << shapeText(getResult().getType()); // C1
  return verifyElementType(*this, getLhs().getType(), getResult().getType());            // C2
}

LogicalResult GatherOp::verify() {
  RankedTensorType src = getSrc().getType(), indices = getIndices().getType(), result = getResult().getType();
  if (src.getRank() != indices.getRank())
    return emitOpError() << "needs equal ranks, got " << shapeText(src) << " and indices " << shapeText(indices); // C1
  int64_t axis = int32_t(getAxis());
  if (axis < 0 || axis >= src.getRank())
    return emitOpError() << "needs 0 <= axis < " << src.getRank() << ", got " << axis; // C2
  if (result.getShape() != indices.getShape())
    return emitOpError() << "needs a result of the indices' shape " << shapeText(indices) << ", got "
                         << shapeText(result); // C3
  for (int64_t d = 0; d < src.getRank(); ++d)
    if (d != axis && src.getDimSize(d) != indices.getDimSize(d))
      return emitOpError() << "needs equal extents except along axis " << axis << ", got " << shapeText(src)
                           << " and indices " << shapeText(indices); // C4
  return verifyElementType(*this, src, result);                      // C5
}

} // namespace tiletwin::tt
