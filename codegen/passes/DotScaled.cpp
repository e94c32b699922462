// codegen/passes/DotScaled.cpp -- tt.dot_scaled as tt.dot of bf16 or f16 operands that were scaled before.
// Idea: the rules of ir/DotOps.td, operation by operation. What numbers an operand's codes stand for is exact in bf16 and
//       f16; the product with the scale rounds.
#include "codegen/passes/DotPrecision.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

/// Makes operations in front of one scaled dot.
struct Scaling {
  OpBuilder b;
  Location where;
  FloatType type; ///< of the operands of the dot: bf16 or f16
  bool fastMath;

  mlir::Type as(Value like, mlir::Type element) { return cast<RankedTensorType>(like.getType()).clone(element); }
  mlir::Type of(ArrayRef<int64_t> shape, Value like) {
    return RankedTensorType::get(shape, tt::elementTypeOf(like.getType()));
  }
  Value integer(Value like, int64_t number) {
    auto type = cast<RankedTensorType>(like.getType());
    return arith::ConstantOp::create(b, where, type,
                                     DenseElementsAttr::get(type, b.getIntegerAttr(type.getElementType(), number)));
  }
  Value number(Value like, APFloat value) {
    auto type = cast<RankedTensorType>(like.getType());
    bool loses;
    value.convert(cast<FloatType>(type.getElementType()).getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
    return arith::ConstantOp::create(b, where, type, DenseElementsAttr::get(type, value));
  }
  Value swapLast(Value x) {
    SmallVector<int32_t, 3> order;
    for (int32_t d = 0; d < cast<RankedTensorType>(x.getType()).getRank(); ++d) order.push_back(d);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    SmallVector<int64_t, 3> shape(tt::shapeOf(x.getType()));
    std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
    return tt::TransOp::create(b, where, of(shape, x), x, b.getDenseI32ArrayAttr(order));
  }
  Value reshape(Value x, ArrayRef<int64_t> shape) {
    OperationState state(where, tt::ReshapeOp::getOperationName());
    state.addOperands(x);
    state.addTypes(of(shape, x));
    return b.create(state)->getResult(0);
  }
  /// Any float as another one. f8 first becomes f16, which holds all of its numbers.
  Value convert(Value x, mlir::Type element) {
    mlir::Type from = tt::elementTypeOf(x.getType());
    if (from == element) return x;
    if (from.getIntOrFloatBitWidth() == 8) {
      Value half = tt::FpToFpOp::create(b, where, as(x, b.getF16Type()), x, tt::RoundingModeAttr());
      return convert(half, element);
    }
    Value wide = from.isF32() ? x : Value(arith::ExtFOp::create(b, where, as(x, b.getF32Type()), x));
    return arith::TruncFOp::create(b, where, as(x, element), wide);
  }

  Value unpack(Value codes);
  Value numbersOf(Value x, tt::ScaleDotElemType format, bool packedAlongLast);
  Value scaleOf(Value scale);
  Value operand(Value x, Value scale, tt::ScaleDotElemType format, bool kPack, bool isA);
};

/// Two e2m1 numbers of each i8, side by side in the last dimension. The code's exponent and fraction are those of a
/// denormal or small number of the target type, which a power of two brings to its place.
Value Scaling::unpack(Value codes) {
  unsigned fraction = type.getFPMantissaWidth() - 1;
  Value wide = arith::ExtUIOp::create(b, where, as(codes, b.getI16Type()), codes);
  int scale = type.isBF16() ? 126 : 14; // 2^(bias - 1)
  Value halves[2];
  for (unsigned i = 0; i < 2; ++i) {
    Value code = i == 0 ? wide : Value(arith::ShRUIOp::create(b, where, wide, integer(wide, 4)));
    Value sign =
        arith::ShLIOp::create(b, where, arith::AndIOp::create(b, where, code, integer(wide, 8)), integer(wide, 12));
    Value rest = arith::ShLIOp::create(b, where, arith::AndIOp::create(b, where, code, integer(wide, 7)),
                                       integer(wide, fraction - 1));
    Value bits = arith::OrIOp::create(b, where, sign, rest);
    Value small = tt::BitcastOp::create(b, where, as(codes, type), bits);
    APFloat power = llvm::scalbn(APFloat(1.0f), scale, APFloat::rmNearestTiesToEven);
    halves[i] = arith::MulFOp::create(b, where, small, number(small, power));
  }
  SmallVector<int64_t, 4> shape(tt::shapeOf(codes.getType()));
  shape.push_back(2);
  Value joined = tt::JoinOp::create(b, where, of(shape, halves[0]), halves[0], halves[1]);
  shape.pop_back();
  shape.back() *= 2;
  return reshape(joined, shape);
}

Value Scaling::numbersOf(Value x, tt::ScaleDotElemType format, bool packedAlongLast) {
  switch (format) {
  case tt::ScaleDotElemType::E2M1:
    if (packedAlongLast) return unpack(x);
    return swapLast(unpack(swapLast(x)));
  case tt::ScaleDotElemType::E4M3:
  case tt::ScaleDotElemType::E5M2: {
    mlir::Type f8 = format == tt::ScaleDotElemType::E4M3 ? mlir::Type(Float8E4M3FNType::get(b.getContext()))
                                                         : mlir::Type(Float8E5M2Type::get(b.getContext()));
    if (tt::elementTypeOf(x.getType()).isInteger()) x = tt::BitcastOp::create(b, where, as(x, f8), x);
    return convert(x, type);
  }
  default: return convert(x, type);
  }
}

/// The scales as numbers of the operands' type. An e8m0 code is the exponent of a bf16; 0 is 2^-127, a denormal.
Value Scaling::scaleOf(Value scale) {
  if (!tt::elementTypeOf(scale.getType()).isInteger(8)) return convert(scale, type);
  Value wide = arith::ExtUIOp::create(b, where, as(scale, b.getI16Type()), scale);
  Value bits = arith::ShLIOp::create(b, where, wide, integer(wide, 7));
  bits = arith::MaxUIOp::create(b, where, bits, integer(wide, 0x40));
  Value power = tt::BitcastOp::create(b, where, as(scale, b.getBF16Type()), bits);
  if (!fastMath) {
    Value isNan = arith::CmpIOp::create(b, where, arith::CmpIPredicate::eq, wide, integer(wide, 255));
    Value nan = number(power, APFloat::getQNaN(APFloat::BFloat()));
    power = arith::SelectOp::create(b, where, isNan, nan, power);
  }
  return convert(power, type);
}

/// Operand a as M x K, or b as K x N, in the type of the dot.
Value Scaling::operand(Value x, Value scale, tt::ScaleDotElemType format, bool kPack, bool isA) {
  Value numbers = numbersOf(x, format, isA == kPack);
  if (!scale) return numbers;
  // Each scale beside the others of its group along K: outer x groups x group, then outer x K (b: transposed).
  Value powers = scaleOf(scale);
  SmallVector<int64_t, 4> shape(tt::shapeOf(numbers.getType()));
  if (!isA) std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  int64_t groups = tt::shapeOf(scale.getType()).back(), k = shape.back();
  SmallVector<int64_t, 4> grouped(shape);
  grouped.back() = groups;
  grouped.push_back(1);
  Value each = reshape(powers, grouped);
  grouped.back() = k / groups;
  each = tt::BroadcastOp::create(b, where, of(grouped, each), each);
  each = reshape(each, shape);
  return arith::MulFOp::create(b, where, numbers, isA ? each : swapLast(each));
}

unsigned bitsOf(tt::ScaleDotElemType format) {
  switch (format) {
  case tt::ScaleDotElemType::E2M1: return 4;
  case tt::ScaleDotElemType::BF16:
  case tt::ScaleDotElemType::FP16: return 16;
  default: return 8;
  }
}

} // namespace

LogicalResult rewriteScaledDot(tt::DotScaledOp dot) {
  using Format = tt::ScaleDotElemType;
  Format a = dot.getAElemType(), b = dot.getBElemType();
  for (Format format : {a, b})
    if (format == Format::E2M3 || format == Format::E3M2)
      return dot.emitOpError("of 6-bit formats (e2m3, e3m2) is not compiled; use e2m1, e4m3, e5m2, bf16 or fp16");
  OpBuilder builder(dot);
  bool half = a == Format::FP16 || b == Format::FP16;
  FloatType type = half ? FloatType(builder.getF16Type()) : FloatType(builder.getBF16Type());
  Scaling scaling{builder, dot.getLoc(), type, dot.getFastMath()};
  Value left = scaling.operand(dot.getA(), dot.getAScale(), a, dot.getLhsKPack(), true);
  Value right = scaling.operand(dot.getB(), dot.getBScale(), b, dot.getRhsKPack(), false);
  auto product = tt::DotOp::create(builder, dot.getLoc(), dot.getD().getType(), left, right, dot.getC(),
                                   tt::InputPrecision::IEEE, 0);
  // Neighbours along K of the narrower operand stay in one thread.
  product->setAttr("twg.narrowest", builder.getI32IntegerAttr(int32_t(std::min(bitsOf(a), bitsOf(b)))));
  dot.getD().replaceAllUsesWith(product.getD());
  dot.erase();
  return success();
}

} // namespace tiletwin::codegen
