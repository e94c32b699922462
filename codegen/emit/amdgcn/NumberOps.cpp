// codegen/emit/amdgcn/NumberOps.cpp -- numbers in LLVM IR whose results are those of the instructions of NVIDIA GPUs.
// Idea:      LLVM's AMDGPU backend rounds division and roots correctly unless flags allow it not to. Rounding toward
//            zero is rounding to nearest and one step back where that went away from zero.
#include "codegen/emit/Elementwise.h"
#include "codegen/emit/amdgcn/Amdgcn.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Instruction;
using llvm::Type;
using llvm::Value;

using llvm::Intrinsic::ID;

namespace {

/// Amounts of the width or more shift everything out.
Value* shift(Emitter& e, Instruction::BinaryOps code, Value* left, Value* amount) {
  llvm::IRBuilder<>& b = e.ir();
  Type* type = left->getType();
  Value* most = llvm::ConstantInt::get(type, type->getIntegerBitWidth() - 1);
  Value* cut = e.intrinsic(llvm::Intrinsic::umin, {type}, {amount, most});
  Value* shifted = b.CreateBinOp(code, left, cut);
  if (code == Instruction::AShr) return shifted;
  return b.CreateSelect(b.CreateICmpUGT(amount, most), llvm::Constant::getNullValue(type), shifted);
}

/// Division by zero gives all ones and the dividend as the remainder; the lowest number by -1 itself, and 0.
Value* divide(Emitter& e, Instruction::BinaryOps code, Value* left, Value* right) {
  llvm::IRBuilder<>& b = e.ir();
  Type* type = left->getType();
  Value *zero = llvm::Constant::getNullValue(type), *ones = llvm::Constant::getAllOnesValue(type);
  bool isSigned = code == Instruction::SDiv || code == Instruction::SRem;
  bool isQuotient = code == Instruction::SDiv || code == Instruction::UDiv;
  Value* byZero = b.CreateICmpEQ(right, zero);
  Value* byMinusOne = isSigned ? b.CreateICmpEQ(right, ones) : b.getFalse();
  Value* divisor = b.CreateSelect(b.CreateOr(byZero, byMinusOne), llvm::ConstantInt::get(type, 1), right);
  Value* result = b.CreateBinOp(code, left, divisor);
  if (isQuotient && isSigned) result = b.CreateSelect(byMinusOne, b.CreateNeg(left), result);
  return b.CreateSelect(byZero, isQuotient ? ones : left, result);
}

/// A float as one of a narrower format, toward zero.
Value* cut(Emitter& e, Value* number, Type* to) {
  llvm::IRBuilder<>& b = e.ir();
  Type* from = number->getType();
  Value* nearest = b.CreateFPTrunc(number, to);
  Value* size = e.intrinsic(llvm::Intrinsic::fabs, {from}, {number});
  Value* rounded = e.intrinsic(llvm::Intrinsic::fabs, {from}, {b.CreateFPExt(nearest, from)});
  Type* bits = b.getIntNTy(to->getPrimitiveSizeInBits());
  Value* step = b.CreateZExt(b.CreateFCmpOGT(rounded, size), bits);
  return b.CreateBitCast(b.CreateSub(b.CreateBitCast(nearest, bits), step), to);
}

Value* call(Emitter& e, ID id, Value* x) { return e.intrinsic(id, {x->getType()}, {x}); }

} // namespace

Value* Amdgcn::integer(Emitter& e, Instruction::BinaryOps code, Value* left, Value* right) const {
  return Instruction::isShift(code) ? shift(e, code, left, right) : divide(e, code, left, right);
}

Value* Amdgcn::floatToInt(Emitter& e, Value* number, Type* to, bool isSigned) const {
  llvm::IRBuilder<>& b = e.ir();
  ID id = isSigned ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  Value* result = e.intrinsic(id, {to, number->getType()}, {number});
  if (to->getIntegerBitWidth() < 64) return result;
  Value* lowest = b.getInt64(uint64_t(1) << 63);
  return b.CreateSelect(b.CreateFCmpUNO(number, number), lowest, result);
}

Value* Amdgcn::cutToFloat(Emitter& e, Value* number) const { return cut(e, number, e.ir().getFloatTy()); }

Value* Amdgcn::cutToHalf(Emitter& e, Value* number) const { return cut(e, number, e.ir().getHalfTy()); }

namespace {

/// With `ftz` v_exp_f32, v_sqrt_f32 and v_rsq_f32 themselves, which take and give zeros for denormals.
struct TwRow {
  llvm::StringLiteral name;
  Value* (*make)(Emitter&, ArrayRef<Value*>, bool ftz);
};

Value* makeQuotient(Emitter& e, ArrayRef<Value*> x, bool) { return e.ir().CreateFDiv(x[0], x[1]); }
Value* makeApproxQuotient(Emitter& e, ArrayRef<Value*> x, bool) {
  return e.ir().CreateFMul(x[0], call(e, llvm::Intrinsic::amdgcn_rcp, x[1]));
}
Value* makeExp2(Emitter& e, ArrayRef<Value*> x, bool ftz) {
  return call(e, ftz ? ID(llvm::Intrinsic::amdgcn_exp2) : ID(llvm::Intrinsic::exp2), x[0]);
}
Value* makeRoot(Emitter& e, ArrayRef<Value*> x, bool ftz) {
  return ftz ? call(e, llvm::Intrinsic::amdgcn_sqrt, x[0]) : call(e, llvm::Intrinsic::sqrt, x[0]);
}
Value* makeInverseRoot(Emitter& e, ArrayRef<Value*> x, bool ftz) {
  if (ftz) return call(e, llvm::Intrinsic::amdgcn_rsq, x[0]);
  return e.ir().CreateFDiv(llvm::ConstantFP::get(x[0]->getType(), 1.0), call(e, llvm::Intrinsic::sqrt, x[0]));
}
Value* makeTrunc(Emitter& e, ArrayRef<Value*> x, bool) {
  return e.intrinsic(llvm::Intrinsic::trunc, {x[0]->getType()}, {x[0]});
}

/// Errors within what ir/TWOps.td allows: the instructions' is at most 1 ulp.
constexpr TwRow kTw[] = {
    {"tw.div_approx", makeApproxQuotient},
    {"tw.div_full", makeQuotient},
    {"tw.div_rn", makeQuotient},
    {"tw.ex2_approx", makeExp2},
    {"tw.rsqrt_approx", makeInverseRoot},
    {"tw.sqrt_approx", makeRoot},
    {"tw.sqrt_rn", makeRoot},
    {"tw.trunc", makeTrunc},
};

/// Functions that LLVM's backend expands itself, in f32.
struct LibraryRow {
  llvm::StringLiteral symbol;
  ID id;
};
constexpr LibraryRow kLibrary[] = {
    {"llvm.log.f32", llvm::Intrinsic::log},
    {"llvm.log2.f32", llvm::Intrinsic::log2},
};

} // namespace

Value* Amdgcn::tw(Emitter& e, Operation* op, ArrayRef<Value*> operands) const {
  const TwRow* row = llvm::find_if(kTw, [&](const TwRow& i) { return i.name == op->getName().getStringRef(); });
  if (row == std::end(kTw)) return (void)notCompiled(op, e), nullptr;
  return row->make(e, operands, op->hasAttr("ftz"));
}

LogicalResult Amdgcn::callLibrary(Emitter& e, Operation* op) const {
  StringRef symbol = cast<tt::ExternElementwiseOp>(op).getSymbol();
  const LibraryRow* row = llvm::find_if(kLibrary, [&](const LibraryRow& i) { return i.symbol == symbol; });
  if (row == std::end(kLibrary))
    return op->emitOpError() << "calls `" << symbol << "`, and for " << e.target().arch
                             << " there is no library of functions: only exp, exp2, log, log2, sqrt and rsqrt have "
                                "code, log and log2 of f32 only";
  bool fits = op->getNumOperands() == 1 && tt::elementTypeOf(op->getOperand(0).getType()).isF32() &&
              tt::elementTypeOf(op->getResult(0).getType()).isF32();
  if (!fits) return op->emitOpError() << "calls `" << symbol << "` with operands that are not one f32";
  return emitPerRegister(e, op, [&](ArrayRef<Value*> x) { return call(e, row->id, x[0]); });
}

} // namespace tiletwin::codegen
