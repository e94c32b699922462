// codegen/emit/CastNarrow.cpp -- see Narrow.h.
// Here:      conversions in pairs where the target has them (e4m3fn and e5m2 from sm_89), integer arithmetic elsewhere.
// Idea:      a code shifted to the place of f32's fields is its value divided by 2^(127 - bias), denormals included. Back,
//            the bits of an f32 are rounded as an integer where the result is normal, and by an addition that pushes the
//            lost bits out of f32's significand where it is denormal.
#include "codegen/emit/Memory.h"
#include "codegen/emit/Narrow.h"
#include "codegen/emit/TargetCode.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Type;
using llvm::Value;

namespace {

/// A format: sign, exponent and `fractionBits`. Codes are those of magnitudes, but for `nan`.
struct Format {
  unsigned fractionBits, bias;
  uint32_t largest;  ///< finite
  uint32_t infinity; ///< 0: there is none
  uint32_t nan;
  bool unsignedZero;    ///< the code of -0 is the only NaN
  const char* hardware; ///< its name in cvt; null: no instruction knows it
  unsigned shift() const { return 23 - fractionBits; }
};

Format formatOf(mlir::Type type) {
  if (isa<Float8E5M2Type>(type)) return {2, 15, 0x7B, 0x7C, 0x7F, false, "e5m2"};
  if (isa<Float8E4M3FNType>(type)) return {3, 7, 0x7E, 0, 0x7F, false, "e4m3"};
  if (isa<Float8E4M3B11FNUZType>(type)) return {3, 11, 0x7F, 0, 0x80, true, nullptr};
  if (isa<Float8E5M2FNUZType>(type)) return {2, 16, 0x7F, 0, 0x80, true, nullptr};
  assert(isa<Float8E4M3FNUZType>(type) && "not one of the language's f8 formats");
  return {3, 8, 0x7F, 0, 0x80, true, nullptr};
}

Value* powerOfTwo(Emitter& e, int exponent) {
  return llvm::ConstantFP::get(e.ir().getFloatTy(), std::ldexp(1.0, exponent));
}

Value* widenByArithmetic(Emitter& e, const Format& format, Value* code) {
  llvm::IRBuilder<>& b = e.ir();
  Type *f32 = b.getFloatTy(), *i32 = b.getInt32Ty();
  code = b.CreateZExt(code, i32);
  Value* magnitude = b.CreateAnd(code, 0x7F);
  Value* sign = b.CreateShl(b.CreateAnd(code, 0x80), 24);
  Value* fields = b.CreateShl(magnitude, format.shift());
  Value* scaled = b.CreateFMul(b.CreateBitCast(fields, f32), powerOfTwo(e, 127 - int(format.bias)));
  Value* bits = b.CreateOr(b.CreateBitCast(scaled, i32), sign);
  if (format.infinity) { // the top exponent: infinity and NaNs
    Value* special = b.CreateOr(b.CreateOr(fields, sign), 0x7F800000);
    bits = b.CreateSelect(b.CreateICmpUGE(magnitude, e.int32(format.infinity)), special, bits);
  } else {
    Value* isNan = format.unsignedZero ? b.CreateICmpEQ(code, e.int32(format.nan))
                                       : b.CreateICmpEQ(magnitude, e.int32(format.nan));
    bits = b.CreateSelect(isNan, e.int32(0x7FC00000), bits);
  }
  return b.CreateBitCast(bits, f32);
}

/// Two codes as f16 by one instruction.
Values widenPair(Emitter& e, const Format& format, Value* low, Value* high) {
  llvm::IRBuilder<>& b = e.ir();
  Type* i16 = b.getInt16Ty();
  Value* both = b.CreateOr(b.CreateZExt(low, i16), b.CreateShl(b.CreateZExt(high, i16), 8));
  std::string text = std::string("cvt.rn.f16x2.") + format.hardware + "x2 $0, $1;";
  Value* halves = e.inlinePtx(text, "=r,h", {b.getInt32Ty()}, {both}, false).front();
  return unpackWords(e, {halves}, b.getHalfTy(), 2);
}

/// Codes as f16, which is exact for all formats but needs no arithmetic only for these; empty for the others.
Values widenToHalf(Emitter& e, const Format& format, ArrayRef<Value*> codes) {
  llvm::IRBuilder<>& b = e.ir();
  Values result;
  if (format.infinity) { // e5m2 is f16 cut off
    for (Value* code : codes)
      result.push_back(b.CreateBitCast(b.CreateShl(b.CreateZExt(code, b.getInt16Ty()), 8), b.getHalfTy()));
    return result;
  }
  if (!format.hardware || !e.features().fp8Conversions) return result;
  for (size_t i = 0; i < codes.size(); i += 2) {
    bool isLast = i + 1 == codes.size();
    Values pair = widenPair(e, format, codes[i], isLast ? b.getInt8(0) : codes[i + 1]);
    result.push_back(pair[0]);
    if (!isLast) result.push_back(pair[1]);
  }
  return result;
}

Value* toFloat32(Emitter& e, Value* number) {
  Type* type = number->getType();
  if (type->isDoubleTy()) return roundToOdd(e, number);
  return type->isFloatTy() ? number : e.ir().CreateFPExt(number, e.ir().getFloatTy());
}

/// Codes of normal magnitudes, given as bits of f32.
Value* normalCode(Emitter& e, const Format& format, Value* magnitude, NarrowRounding rounding) {
  llvm::IRBuilder<>& b = e.ir();
  Value* rounded = magnitude;
  if (rounding == NarrowRounding::NearestEven) {
    Value* isOdd = b.CreateAnd(b.CreateLShr(magnitude, format.shift()), 1);
    rounded = b.CreateAdd(b.CreateAdd(magnitude, e.int32((1 << (format.shift() - 1)) - 1)), isOdd);
  }
  return b.CreateSub(b.CreateLShr(rounded, format.shift()), e.int32((127 - format.bias) << format.fractionBits));
}

/// Codes of magnitudes below the smallest normal one.
Value* denormalCode(Emitter& e, const Format& format, Value* magnitude, NarrowRounding rounding) {
  llvm::IRBuilder<>& b = e.ir();
  Value* number = b.CreateBitCast(magnitude, b.getFloatTy());
  if (rounding == NarrowRounding::TowardZero) {
    Value* scaled = b.CreateFMul(number, powerOfTwo(e, int(format.bias + format.fractionBits) - 1));
    return e.code().floatToInt(e, scaled, b.getInt32Ty(), /*isSigned=*/true);
  }
  // The last place of this number is the smallest denormal.
  const uint32_t exponent = 127 - format.bias + format.shift() + 1;
  Value* sum = b.CreateFAdd(number, b.CreateBitCast(e.int32(exponent << 23), b.getFloatTy()));
  return b.CreateSub(b.CreateBitCast(sum, b.getInt32Ty()), e.int32(exponent << 23));
}

Value* narrowByArithmetic(Emitter& e, const Format& format, Value* number, NarrowRounding rounding) {
  llvm::IRBuilder<>& b = e.ir();
  Value* bits = b.CreateBitCast(toFloat32(e, number), b.getInt32Ty());
  Value* magnitude = b.CreateAnd(bits, 0x7FFFFFFF);
  Value* isSmall = b.CreateICmpULT(magnitude, e.int32((128 - format.bias) << 23));
  Value* code =
      b.CreateSelect(isSmall, denormalCode(e, format, magnitude, rounding), normalCode(e, format, magnitude, rounding));
  code = e.intrinsic(llvm::Intrinsic::umin, {b.getInt32Ty()}, {code, e.int32(format.largest)});
  if (rounding == NarrowRounding::TowardZero && format.infinity)
    code = b.CreateSelect(b.CreateICmpEQ(magnitude, e.int32(0x7F800000)), e.int32(format.infinity), code);
  Value* sign = b.CreateAnd(b.CreateLShr(bits, 24), 0x80);
  Value* whole = b.CreateOr(code, sign);
  if (format.unsignedZero) whole = b.CreateSelect(b.CreateICmpEQ(code, e.int32(0)), code, whole);
  Value* isNan = b.CreateICmpUGT(magnitude, e.int32(0x7F800000));
  return b.CreateTrunc(b.CreateSelect(isNan, e.int32(format.nan), whole), b.getInt8Ty());
}

/// Two numbers as codes by one instruction.
Values narrowPair(Emitter& e, const Format& format, Value* low, Value* high) {
  llvm::IRBuilder<>& b = e.ir();
  std::string text = std::string("cvt.rn.satfinite.") + format.hardware + "x2";
  Value* both = nullptr;
  if (low->getType()->isHalfTy()) {
    both = e.inlinePtx(text + ".f16x2 $0, $1;", "=h,r", {b.getInt16Ty()}, packWords(e, {low, high}), false).front();
  } else {
    both = e.inlinePtx(text + ".f32 $0, $2, $1;", "=h,f,f", {b.getInt16Ty()}, {toFloat32(e, low), toFloat32(e, high)},
                       false)
               .front();
  }
  return {b.CreateTrunc(both, b.getInt8Ty()), b.CreateTrunc(b.CreateLShr(both, 8), b.getInt8Ty())};
}

} // namespace

bool isF8(mlir::Type element) { return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8; }

Value* roundToOdd(Emitter& e, Value* number) {
  llvm::IRBuilder<>& b = e.ir();
  Value* cut = e.code().cutToFloat(e, number);
  Value* isInexact = b.CreateFCmpUNE(b.CreateFPExt(cut, b.getDoubleTy()), number);
  Value* bits = b.CreateOr(b.CreateBitCast(cut, b.getInt32Ty()), b.CreateZExt(isInexact, b.getInt32Ty()));
  return b.CreateBitCast(bits, b.getFloatTy());
}

Values widenF8(Emitter& e, mlir::Type type, ArrayRef<Value*> codes, Type* to) {
  const Format format = formatOf(type);
  Values result = widenToHalf(e, format, codes);
  if (result.empty())
    for (Value* code : codes) result.push_back(widenByArithmetic(e, format, code));
  for (Value*& number : result) {
    if (number->getType()->isHalfTy() && to->isBFloatTy()) number = e.ir().CreateFPExt(number, e.ir().getFloatTy());
    number = e.ir().CreateFPCast(number, to); // no rounding: every f8 number is one of every wider format
  }
  return result;
}

Values narrowToF8(Emitter& e, mlir::Type type, ArrayRef<Value*> numbers, NarrowRounding rounding) {
  const Format format = formatOf(type);
  Values result;
  if (rounding == NarrowRounding::TowardZero || !format.hardware || !e.features().fp8Conversions) {
    for (Value* number : numbers) result.push_back(narrowByArithmetic(e, format, number, rounding));
    return result;
  }
  for (size_t i = 0; i < numbers.size(); i += 2) {
    bool isLast = i + 1 == numbers.size();
    Value* zero = llvm::Constant::getNullValue(numbers[i]->getType());
    Values pair = narrowPair(e, format, numbers[i], isLast ? zero : numbers[i + 1]);
    result.push_back(pair[0]);
    if (!isLast) result.push_back(pair[1]);
  }
  return result;
}

} // namespace tiletwin::codegen
