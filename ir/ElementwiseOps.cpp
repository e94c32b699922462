// ir/ElementwiseOps.cpp -- verifiers, effects and folders of the elementwise operations.
#include "ir/TT.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tiletwin::tt {

LogicalResult BitcastOp::verify() {
  Type from = elementTypeOf(getSrc().getType()), to = elementTypeOf(getResult().getType());
  bool pointers = isa<PointerType>(from) && isa<PointerType>(to);
  bool sameWidth =
      from.isIntOrFloat() && to.isIntOrFloat() && from.getIntOrFloatBitWidth() == to.getIntOrFloatBitWidth();
  if (!pointers && !sameWidth)
    return emitOpError() << "needs two pointers or two numbers of one width, got " << from << " and " << to; // C1
  return success();
}

// The bits of an integer or float constant as a constant of `type` (same width).
static Attribute bitcastScalar(Attribute value, Type type) {
  APInt bits;
  if (auto integer = dyn_cast<IntegerAttr>(value))
    bits = integer.getValue();
  else if (auto number = dyn_cast<FloatAttr>(value))
    bits = number.getValue().bitcastToAPInt();
  else
    return {};
  if (auto floatType = dyn_cast<FloatType>(type))
    return FloatAttr::get(type, APFloat(floatType.getFloatSemantics(), bits));
  return IntegerAttr::get(type, bits);
}

OpFoldResult BitcastOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType()) return getSrc();
  if (auto inner = getSrc().getDefiningOp<BitcastOp>()) {
    if (inner.getSrc().getType() == getType()) return inner.getSrc();
  }
  Type element = elementTypeOf(getType());
  if (!element.isIntOrFloat() || !adaptor.getSrc()) return {};
  if (auto splat = dyn_cast<SplatElementsAttr>(adaptor.getSrc())) {
    Attribute value = bitcastScalar(splat.getSplatValue<Attribute>(), element);
    return value ? OpFoldResult(DenseElementsAttr::get(cast<ShapedType>(getType()), value)) : OpFoldResult();
  }
  return isa<RankedTensorType>(getType()) ? Attribute() : bitcastScalar(adaptor.getSrc(), element);
}

LogicalResult FpToFpOp::verify() {
  Type from = elementTypeOf(getSrc().getType()), to = elementTypeOf(getResult().getType());
  unsigned fromWidth = from.getIntOrFloatBitWidth(), toWidth = to.getIntOrFloatBitWidth();
  if (!getRounding() && toWidth < fromWidth)
    return emitOpError() << "needs a rounding from " << from << " to " << to; // C1
  if (getRounding() && toWidth > fromWidth)
    return emitOpError() << "has a rounding, but widening from " << from << " to " << to << " is exact"; // C2
  return success();
}

// A finite constant that the target format holds exactly; null for anything that would be rounded.
static Attribute convertExactly(FloatAttr value, FloatType type) {
  APFloat number = value.getValue();
  bool negative = number.isNegative(), losesInfo = false;
  if (!number.isFinite()) return {};
  number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  if (losesInfo || !number.isFinite() || number.isNegative() != negative) return {};
  return FloatAttr::get(type, number);
}

OpFoldResult FpToFpOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType()) return getSrc();
  auto type = cast<FloatType>(elementTypeOf(getType()));
  if (auto number = dyn_cast_if_present<FloatAttr>(adaptor.getSrc())) return convertExactly(number, type);
  auto splat = dyn_cast_if_present<SplatElementsAttr>(adaptor.getSrc());
  if (!splat) return {};
  Attribute value = convertExactly(splat.getSplatValue<FloatAttr>(), type);
  return value ? OpFoldResult(DenseElementsAttr::get(cast<ShapedType>(getType()), value)) : OpFoldResult();
}

LogicalResult MulhiUIOp::verify() {
  unsigned width = elementTypeOf(getType()).getIntOrFloatBitWidth();
  if (width != 32 && width != 64) return emitOpError() << "needs integers of 32 or 64 bits, got " << getType(); // C1
  return success();
}

OpFoldResult MulhiUIOp::fold(FoldAdaptor adaptor) {
  APInt x, y;
  if (matchPattern(adaptor.getY(), m_ConstantInt(&y)) && y.isZero()) return adaptor.getY();
  if (!matchPattern(adaptor.getX(), m_ConstantInt(&x)) || !matchPattern(adaptor.getY(), m_ConstantInt(&y))) return {};
  Attribute value = IntegerAttr::get(elementTypeOf(getType()), llvm::APIntOps::mulhu(x, y));
  if (auto tile = dyn_cast<RankedTensorType>(getType())) return DenseElementsAttr::get(tile, value);
  return value;
}

LogicalResult PopcountOp::verify() {
  if (elementTypeOf(getType()).isInteger(1))
    return emitOpError() << "needs integers of 8 bits or more, got " << getType(); // C1
  return success();
}

LogicalResult MapElementwiseOp::verify() {
  if (failed(verifySameShape(*this))) return failure(); // C1
  int64_t pack = int32_t(getPack());
  if (getSrcs().empty() || getResults().empty()) return emitOpError() << "needs at least one operand and one result";
  int64_t count = cast<RankedTensorType>(getSrcs()[0].getType()).getNumElements();
  if (pack < 1 || count % pack != 0)
    return emitOpError() << "needs a pack that divides " << count << " elements, got " << pack; // C2
  SmallVector<Type> arguments, results;
  for (Type type : getSrcs().getTypes()) arguments.append(pack, elementTypeOf(type));
  for (Type type : getResultTypes()) results.append(pack, elementTypeOf(type));
  Block& block = getBody().front();
  if (TypeRange(block.getArgumentTypes()) != TypeRange(arguments))
    return emitOpError() << "needs a region with " << arguments.size() << " arguments (" << pack
                         << " per operand, of its element type)"; // C3
  if (TypeRange(block.getTerminator()->getOperandTypes()) != TypeRange(results))
    return emitOpError() << "needs a region that returns " << results.size() << " values (" << pack
                         << " per result, of its element type)"; // C4
  return success();
}

LogicalResult ExternElementwiseOp::verify() {
  if (getSymbol().empty()) return emitOpError() << "names no symbol"; // C1
  return success();
}

LogicalResult ElementwiseInlineAsmOp::verify() {
  if (int32_t(getPackedElement()) < 1)
    return emitOpError() << "needs packed_element >= 1, got " << int32_t(getPackedElement()); // C1
  if (getResults().empty()) return emitOpError() << "needs a result";                         // C2
  return success();
}

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;
// What is not declared pure may read and write anything.
static void addEffects(bool pure, Effects& effects) {
  if (pure) return;
  effects.emplace_back(MemoryEffects::Read::get(), GlobalMemory::get());
  effects.emplace_back(MemoryEffects::Write::get(), GlobalMemory::get());
}
static Speculation::Speculatability speculatability(bool pure) {
  return pure ? Speculation::Speculatable : Speculation::NotSpeculatable;
}
void ExternElementwiseOp::getEffects(Effects& effects) { addEffects(getPure(), effects); }
void ElementwiseInlineAsmOp::getEffects(Effects& effects) { addEffects(getPure(), effects); }
Speculation::Speculatability ExternElementwiseOp::getSpeculatability() { return speculatability(getPure()); }
Speculation::Speculatability ElementwiseInlineAsmOp::getSpeculatability() { return speculatability(getPure()); }

} // namespace tiletwin::tt
