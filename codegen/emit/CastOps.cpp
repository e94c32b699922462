// codegen/emit/CastOps.cpp -- conversions between number formats, and between pointers and integers.
// Not here:  floats of 8 bits (CastNarrow.cpp).
#include "codegen/emit/Elementwise.h"
#include "codegen/emit/TargetCode.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Instruction;
using llvm::Type;
using llvm::Value;

namespace {

/// Float to integer as NVIDIA's GPUs do it: toward zero, saturating at 16, 32 and 64 bits, NaN gives 0 (64 bits: the sign's
/// bit pattern); narrower results are the low bits of the 16-bit one (measured, tests/data).
Value* floatToInt(Emitter& e, Value* value, Type* to, bool isSigned) {
  llvm::IRBuilder<>& b = e.ir();
  unsigned bits = to->getIntegerBitWidth(), width = bits <= 16 ? 16 : bits <= 32 ? 32 : 64;
  if (!value->getType()->isDoubleTy()) value = b.CreateFPExt(value, b.getFloatTy());
  return b.CreateTrunc(e.code().floatToInt(e, value, b.getIntNTy(width), isSigned), to);
}

/// f32 toward zero to f16 or bf16. Bits of a bf16 are the upper ones of an f32; only a NaN must not lose all it has.
Value* cutToHalf(Emitter& e, Value* number, Type* to) {
  llvm::IRBuilder<>& b = e.ir();
  if (to->isHalfTy()) return e.code().cutToHalf(e, number);
  Value* upper = b.CreateTrunc(b.CreateLShr(b.CreateBitCast(number, b.getInt32Ty()), 16), b.getInt16Ty());
  upper = b.CreateSelect(b.CreateFCmpUNO(number, number), b.getInt16(0x7FFF), upper);
  return b.CreateBitCast(upper, to);
}

/// One float as another of 16 bits or more.
Value* convertFloat(Emitter& e, Value* number, Type* to, bool towardZero) {
  llvm::IRBuilder<>& b = e.ir();
  Type* from = number->getType();
  if (from == to) return number;
  unsigned fromBits = from->getPrimitiveSizeInBits(), toBits = to->getPrimitiveSizeInBits();
  if (fromBits < toBits) return b.CreateFPExt(number, to);
  if (fromBits == 16) number = b.CreateFPExt(number, b.getFloatTy()); // f16 and bf16
  if (!towardZero) {
    // No target has cvt.rn.bf16.f64.
    if (fromBits == 64 && to->isBFloatTy()) number = roundToOdd(e, number);
    return b.CreateFPTrunc(number, to);
  }
  if (fromBits == 64) number = e.code().cutToFloat(e, number);
  return to->isFloatTy() ? number : cutToHalf(e, number, to);
}

LogicalResult convertFloats(Emitter& e, Operation* op, bool towardZero) {
  mlir::Type from = tt::elementTypeOf(op->getOperand(0).getType());
  mlir::Type to = tt::elementTypeOf(op->getResult(0).getType());
  Values numbers(e.values(op->getOperand(0)));
  if (from == to) return e.define(op->getResult(0), std::move(numbers)), success();
  NarrowRounding rounding = towardZero ? NarrowRounding::TowardZero : NarrowRounding::NearestEven;
  if (isF8(from)) numbers = widenF8(e, from, numbers, isF8(to) ? e.ir().getFloatTy() : e.typeOf(to));
  if (isF8(to)) {
    numbers = narrowToF8(e, to, numbers, rounding);
  } else {
    for (Value*& number : numbers) number = convertFloat(e, number, e.typeOf(to), towardZero);
  }
  e.define(op->getResult(0), std::move(numbers));
  return success();
}

/// Between integers and f8, through floats that hold what matters: an integer that f64 rounds is beyond every f8 format.
LogicalResult convertF8AndInteger(Emitter& e, Operation* op, bool isSigned) {
  mlir::Type from = tt::elementTypeOf(op->getOperand(0).getType());
  mlir::Type to = tt::elementTypeOf(op->getResult(0).getType());
  Values numbers(e.values(op->getOperand(0)));
  llvm::IRBuilder<>& b = e.ir();
  if (isF8(from)) {
    numbers = widenF8(e, from, numbers, b.getFloatTy());
    for (Value*& number : numbers) number = floatToInt(e, number, e.typeOf(to), isSigned);
  } else {
    for (Value*& number : numbers)
      number = isSigned ? b.CreateSIToFP(number, b.getDoubleTy()) : b.CreateUIToFP(number, b.getDoubleTy());
    numbers = narrowToF8(e, to, numbers, NarrowRounding::NearestEven);
  }
  e.define(op->getResult(0), std::move(numbers));
  return success();
}

LogicalResult floatsToIntegers(Emitter& e, Operation* op, bool isSigned) {
  if (isF8(tt::elementTypeOf(op->getOperand(0).getType()))) return convertF8AndInteger(e, op, isSigned);
  Type* to = e.typeOf(tt::elementTypeOf(op->getResult(0).getType()));
  return emitPerRegister(e, op, [&](ArrayRef<Value*> in) { return floatToInt(e, in[0], to, isSigned); });
}

LogicalResult castInteger(Emitter& e, Operation* op, Instruction::CastOps code) {
  mlir::Type toType = tt::elementTypeOf(op->getResult(0).getType());
  if (isF8(toType)) return convertF8AndInteger(e, op, code == Instruction::SIToFP);
  Type* to = e.typeOf(toType);
  return emitPerRegister(e, op, [&](ArrayRef<Value*> in) { return e.ir().CreateCast(code, in[0], to); });
}

/// The bits of a 16-bit float, through a move that LLVM does not look through: of a number and a comparison of its bits as
/// the other 16-bit float it would make one operation, which NVPTX does not have, and end the process.
Value* bitsOfFloat16(Emitter& e, Value* number) {
  llvm::IRBuilder<>& b = e.ir();
  Value* bits = b.CreateBitCast(number, b.getInt16Ty());
  if (e.target().backend != "cuda") return bits;
  return e.inlinePtx("mov.b16 $0, $1;", "=h,h", {b.getInt16Ty()}, {bits}, false).front();
}

LogicalResult castBits(Emitter& e, Operation* op) {
  Type* to = e.typeOf(tt::elementTypeOf(op->getResult(0).getType()));
  return emitPerRegister(e, op, [&](ArrayRef<Value*> in) -> Value* {
    bool fromPointer = in[0]->getType()->isPointerTy();
    if (fromPointer && !to->isPointerTy()) return e.ir().CreatePtrToInt(in[0], to);
    if (!fromPointer && to->isPointerTy()) return e.ir().CreateIntToPtr(in[0], to);
    if (in[0]->getType()->is16bitFPTy() && to != in[0]->getType())
      return e.ir().CreateBitCast(bitsOfFloat16(e, in[0]), to);
    return fromPointer ? in[0] : e.ir().CreateBitCast(in[0], to);
  });
}

} // namespace

template <> LogicalResult emit(Emitter& e, arith::IndexCastOp op) {
  Type* to = e.typeOf(tt::elementTypeOf(op.getType()));
  return emitPerRegister(e, op, [&](ArrayRef<Value*> in) { return e.ir().CreateSExtOrTrunc(in[0], to); });
}
template <> LogicalResult emit(Emitter& e, tt::FpToFpOp op) {
  auto rounding = op.getRounding();
  return convertFloats(e, op, rounding == tt::RoundingMode::RTZ);
}
template <> LogicalResult emit(Emitter& e, arith::ExtFOp op) { return convertFloats(e, op, false); }
template <> LogicalResult emit(Emitter& e, arith::TruncFOp op) { return convertFloats(e, op, false); }
template <> LogicalResult emit(Emitter& e, arith::ExtSIOp op) { return castInteger(e, op, Instruction::SExt); }
template <> LogicalResult emit(Emitter& e, arith::ExtUIOp op) { return castInteger(e, op, Instruction::ZExt); }
template <> LogicalResult emit(Emitter& e, arith::TruncIOp op) { return castInteger(e, op, Instruction::Trunc); }
template <> LogicalResult emit(Emitter& e, arith::SIToFPOp op) { return castInteger(e, op, Instruction::SIToFP); }
template <> LogicalResult emit(Emitter& e, arith::UIToFPOp op) { return castInteger(e, op, Instruction::UIToFP); }
template <> LogicalResult emit(Emitter& e, arith::FPToSIOp op) { return floatsToIntegers(e, op, true); }
template <> LogicalResult emit(Emitter& e, arith::FPToUIOp op) { return floatsToIntegers(e, op, false); }
template <> LogicalResult emit(Emitter& e, arith::BitcastOp op) { return castBits(e, op); }
template <> LogicalResult emit(Emitter& e, tt::BitcastOp op) { return castBits(e, op); }
template <> LogicalResult emit(Emitter& e, tt::IntToPtrOp op) { return castBits(e, op); }
template <> LogicalResult emit(Emitter& e, tt::PtrToIntOp op) { return castBits(e, op); }

} // namespace tiletwin::codegen
