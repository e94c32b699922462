// ir/Combining.cpp -- see Combining.h.
#include "ir/Combining.h"

using namespace mlir;

namespace tiletwin::tt {

/// Makes the operation with its region. `End`: what ends that.
template <class Op, class End>
static Value build(OpBuilder& b, OperationState& state, Value tile, Type result, CombineFn combine) {
  state.addOperands(tile);
  state.addTypes(result);
  state.addRegion();
  auto op = cast<Op>(b.create(state));
  OpBuilder::InsertionGuard guard(b);
  Type element = elementTypeOf(tile.getType());
  Block* body = b.createBlock(&op.getCombineOp(), {}, {element, element}, {state.location, state.location});
  Value both = combine(b, state.location, body->getArgument(0), body->getArgument(1));
  End::create(b, state.location, ValueRange(both));
  return op->getResult(0);
}

Value reduceTile(OpBuilder& b, Location location, Value tile, int axis, CombineFn combine) {
  OperationState state(location, ReduceOp::getOperationName());
  state.addAttribute("axis", b.getI32IntegerAttr(axis));
  auto type = cast<RankedTensorType>(tile.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + axis);
  Type element = type.getElementType(), result = shape.empty() ? element : RankedTensorType::get(shape, element);
  return build<ReduceOp, ReduceReturnOp>(b, state, tile, result, combine);
}

Value scanTile(OpBuilder& b, Location location, Value tile, ScanOp like, CombineFn combine) {
  OperationState state(location, ScanOp::getOperationName());
  state.addAttributes({b.getNamedAttr("axis", like.getAxisAttr()), b.getNamedAttr("reverse", like.getReverseAttr())});
  return build<ScanOp, ScanReturnOp>(b, state, tile, tile.getType(), combine);
}

} // namespace tiletwin::tt
