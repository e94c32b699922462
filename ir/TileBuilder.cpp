// ir/TileBuilder.cpp -- see TileBuilder.h.
#include "ir/TileBuilder.h"

using namespace mlir;

namespace tiletwin::tt {

Value TileBuilder::constant(TypedAttr number, Type like) {
  if (isa<RankedTensorType>(like))
    number = SplatElementsAttr::get(cast<ShapedType>(withShapeOf(like, number.getType())), Attribute(number));
  return arith::ConstantOp::create(*this, number);
}

Value TileBuilder::integer(Type type, const APInt& value) {
  return constant(IntegerAttr::get(elementTypeOf(type), value), type);
}
Value TileBuilder::integer(Type type, int64_t value) {
  return constant(IntegerAttr::get(elementTypeOf(type), value), type);
}
Value TileBuilder::floating(Type type, double value) {
  return constant(FloatAttr::get(elementTypeOf(type), value), type);
}
Value TileBuilder::floating(Type type, const APFloat& value) {
  return constant(FloatAttr::get(elementTypeOf(type), value), type);
}

Value TileBuilder::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return arith::CmpIOp::create(*this, predicate, a, b);
}
Value TileBuilder::compare(arith::CmpFPredicate predicate, Value a, Value b) {
  return arith::CmpFOp::create(*this, predicate, a, b);
}
Value TileBuilder::both(Value a, Value b) { return a && b ? Value(arith::AndIOp::create(*this, a, b)) : a ? a : b; }
Value TileBuilder::either(Value a, Value b) { return a && b ? Value(arith::OrIOp::create(*this, a, b)) : a ? a : b; }
Value TileBuilder::invert(Value condition) {
  return arith::XOrIOp::create(*this, condition, integer(condition.getType(), 1));
}

Value TileBuilder::stretch(Value tile, int axis, Type like) {
  if (!tile) return {};
  Type element = elementTypeOf(tile.getType()), type = withShapeOf(like, element);
  if (!isa<RankedTensorType>(tile.getType())) return SplatOp::create(*this, type, tile);
  SmallVector<int64_t> shape(shapeOf(tile.getType()));
  shape.insert(shape.begin() + axis, 1);
  Value line = ExpandDimsOp::create(*this, RankedTensorType::get(shape, element), tile, uint32_t(axis));
  return line.getType() == type ? line : Value(BroadcastOp::create(*this, type, line));
}

Value TileBuilder::laidAlong(Value line, int dim, RankedTensorType like) {
  Type element = elementTypeOf(line.getType());
  SmallVector<int64_t> shape(size_t(like.getRank()), 1);
  shape[size_t(dim)] = shapeOf(line.getType()).front();
  if (shape.size() > 1) line = ReshapeOp::create(*this, RankedTensorType::get(shape, element), line);
  auto whole = RankedTensorType::get(like.getShape(), element);
  return line.getType() == whole ? line : Value(BroadcastOp::create(*this, whole, line));
}

Operation* TileBuilder::cloneFor(Operation* op, ValueRange operands, TypeRange results) {
  OperationState state(getLoc(), op->getName(), operands, results, op->getAttrs());
  return create(state);
}

/// Makes the block of a region that combines two elements. `End`: what ends it.
template <class End> void TileBuilder::fill(Region& region, Type element, Combine combine) {
  InsertionGuard guard(*this);
  Block* body = createBlock(&region, {}, {element, element}, {getLoc(), getLoc()});
  End::create(*this, ValueRange(combine(*this, body->getArgument(0), body->getArgument(1))));
}

Value TileBuilder::reduceBy(Value tile, int axis, Combine combine) {
  SmallVector<int64_t> shape(shapeOf(tile.getType()));
  shape.erase(shape.begin() + axis);
  Type element = elementTypeOf(tile.getType());
  Type result = shape.empty() ? element : RankedTensorType::get(shape, element);
  auto op = ReduceOp::create(*this, result, tile, uint32_t(axis));
  fill<ReduceReturnOp>(op.getCombineOp(), element, combine);
  return op->getResult(0);
}

Value TileBuilder::scanBy(Value tile, ScanOp like, Combine combine) {
  auto op = ScanOp::create(*this, tile.getType(), tile, like.getAxis(), like.getReverse());
  fill<ScanReturnOp>(op.getCombineOp(), elementTypeOf(tile.getType()), combine);
  return op->getResult(0);
}

} // namespace tiletwin::tt
