// ir/DescriptorOps.cpp -- verifiers of the tensor descriptor operations.
#include "ir/TT.h"

using namespace mlir;

namespace tiletwin::tt {

LogicalResult MakeTensorDescriptorOp::verify() {
  TensorDescType type = getResult().getType();
  size_t rank = type.getShape().size();
  if (getShape().size() != rank || getStrides().size() != rank)
    return emitOpError() << "needs " << rank << " extents and strides, got " << getShape().size() << " and "
                         << getStrides().size(); // C1
  Type element = type.getBlockType().getElementType();
  if (getBase().getType().getPointeeType() != element)
    return emitOpError() << "needs a base of type " << PointerType::get(element) << ", got "
                         << getBase().getType(); // C2
  if (getPadding() == Padding::NaN && !isa<FloatType>(element))
    return emitOpError() << "pads with NaN, but the elements are " << type.getElementType(); // C3
  return success();
}

static LogicalResult verifyBlock(Operation* op, TensorDescType desc, size_t indices, Type tile) {
  if (indices != desc.getShape().size())
    return op->emitOpError() << "needs " << desc.getShape().size() << " indices, got " << indices; // C1
  RankedTensorType block = desc.getBlockType();
  ArrayRef<int64_t> full = block.getShape(), got = shapeOf(tile);
  // Leading extents of 1 may be absent from the tile.
  bool fits = got.size() <= full.size() && full.take_back(got.size()) == got &&
              llvm::all_of(full.drop_back(got.size()), [](int64_t extent) { return extent == 1; });
  if (!fits || elementTypeOf(tile) != block.getElementType())
    return op->emitOpError() << "needs the descriptor's block " << block << ", got " << tile; // C2
  return success();
}

LogicalResult DescriptorLoadOp::verify() {
  return verifyBlock(*this, getDesc().getType(), getIndices().size(), getResult().getType());
}
LogicalResult DescriptorStoreOp::verify() {
  return verifyBlock(*this, getDesc().getType(), getIndices().size(), getSrc().getType());
}
LogicalResult DescriptorReduceOp::verify() {
  using Kind = DescriptorReduceKind;
  if (failed(verifyBlock(*this, getDesc().getType(), getIndices().size(), getSrc().getType()))) return failure();
  bool floatKind = llvm::is_contained({Kind::Add, Kind::Min, Kind::Max}, getKind());
  if (!floatKind && isa<FloatType>(getDesc().getType().getElementType()))
    return emitOpError() << "cannot do " << stringifyDescriptorReduceKind(getKind()) << " on "
                         << getDesc().getType().getElementType(); // C3
  return success();
}

static LogicalResult verifyRows(Operation* op, TensorDescType desc, Type offsets, Type tile) {
  if (desc.getShape().size() != 2 || desc.getShape()[0] != 1)
    return op->emitOpError() << "needs a descriptor with a block of 1xN, got " << desc; // C1
  auto rows = cast<RankedTensorType>(offsets);
  unsigned width = rows.getElementType().getIntOrFloatBitWidth();
  if (rows.getRank() != 1 || (width != 16 && width != 32))
    return op->emitOpError() << "needs a rank-1 tile of i16 or i32 row numbers, got " << rows; // C2
  auto given = dyn_cast<RankedTensorType>(tile);
  auto wanted = RankedTensorType::get({rows.getDimSize(0), desc.getShape()[1]}, desc.getBlockType().getElementType(),
                                      given ? given.getEncoding() : Attribute());
  if (tile != wanted) return op->emitOpError() << "needs rows of type " << wanted << ", got " << tile; // C3
  return success();
}

LogicalResult DescriptorGatherOp::verify() {
  return verifyRows(*this, getDesc().getType(), getXOffsets().getType(), getResult().getType());
}
LogicalResult DescriptorScatterOp::verify() {
  return verifyRows(*this, getDesc().getType(), getXOffsets().getType(), getSrc().getType());
}

} // namespace tiletwin::tt
