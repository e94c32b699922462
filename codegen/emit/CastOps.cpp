// codegen/emit/CastOps.cpp -- conversions between number formats, and between pointers and integers.
#include "codegen/emit/Elementwise.h"
#include "codegen/emit/Emitters.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Instruction;
using llvm::Value;

namespace {

/// Float to integer as the GPU does it: toward zero, saturating at 32 and 64 bits, NaN gives 0 (64 bits: the sign's
/// bit pattern); narrower results are the low bits of the 32-bit one (measured, tests/data).
Value* floatToInt(Emitter& e, Value* value, llvm::Type* to, bool isSigned) {
  llvm::IRBuilder<>& b = e.ir();
  unsigned bits = to->getIntegerBitWidth();
  if (!value->getType()->isDoubleTy()) value = b.CreateFPExt(value, b.getFloatTy());
  bool isDouble = value->getType()->isDoubleTy();
  using namespace llvm::Intrinsic;
  llvm::Intrinsic::ID id;
  if (bits <= 32)
    id = isDouble ? (isSigned ? nvvm_d2i_rz : nvvm_d2ui_rz) : (isSigned ? nvvm_f2i_rz : nvvm_f2ui_rz);
  else
    id = isDouble ? (isSigned ? nvvm_d2ll_rz : nvvm_d2ull_rz) : (isSigned ? nvvm_f2ll_rz : nvvm_f2ull_rz);
  return b.CreateTrunc(e.intrinsic(id, {}, {value}), to);
}

} // namespace

LogicalResult emitCast(Emitter& e, Operation* op) {
  llvm::Type* to = e.typeOf(tt::elementTypeOf(op->getResult(0).getType()));
  mlir::Type fromType = tt::elementTypeOf(op->getOperand(0).getType());
  StringRef name = op->getName().stripDialect();
  if (isa<FloatType>(fromType) && fromType.getIntOrFloatBitWidth() == 8) return notCompiled(op, e, "from f8");
  if (name == "fptosi" || name == "fptoui")
    return emitPerRegister(e, op, [&](ArrayRef<Value*> in) { return floatToInt(e, in[0], to, name == "fptosi"); });
  auto code = llvm::StringSwitch<Instruction::CastOps>(name)
                  .Case("extf", Instruction::FPExt)
                  .Case("truncf", Instruction::FPTrunc)
                  .Case("extsi", Instruction::SExt)
                  .Case("extui", Instruction::ZExt)
                  .Case("trunci", Instruction::Trunc)
                  .Case("sitofp", Instruction::SIToFP)
                  .Case("uitofp", Instruction::UIToFP)
                  .Default(Instruction::CastOpsEnd);
  if (name == "index_cast")
    return emitPerRegister(e, op, [&](ArrayRef<Value*> in) { return e.ir().CreateSExtOrTrunc(in[0], to); });
  if (code == Instruction::CastOpsEnd) return notCompiled(op, e);
  return emitPerRegister(e, op, [&](ArrayRef<Value*> in) { return e.ir().CreateCast(code, in[0], to); });
}

LogicalResult emitBitcast(Emitter& e, Operation* op) {
  llvm::Type* to = e.typeOf(tt::elementTypeOf(op->getResult(0).getType()));
  return emitPerRegister(e, op, [&](ArrayRef<Value*> in) -> Value* {
    bool fromPointer = in[0]->getType()->isPointerTy();
    if (fromPointer && !to->isPointerTy()) return e.ir().CreatePtrToInt(in[0], to);
    if (!fromPointer && to->isPointerTy()) return e.ir().CreateIntToPtr(in[0], to);
    return fromPointer ? in[0] : e.ir().CreateBitCast(in[0], to);
  });
}

LogicalResult emitFpToFp(Emitter& e, Operation* op) {
  auto cast = llvm::cast<tt::FpToFpOp>(op);
  mlir::Type from = tt::elementTypeOf(cast.getSrc().getType()), to = tt::elementTypeOf(cast.getResult().getType());
  unsigned fromBits = from.getIntOrFloatBitWidth(), toBits = to.getIntOrFloatBitWidth();
  if (fromBits == 8 || toBits == 8 || cast.getRounding().value_or(tt::RoundingMode::RTNE) != tt::RoundingMode::RTNE)
    return notCompiled(op, e, "with f8 or rounding toward zero");
  llvm::Type* type = e.typeOf(to);
  return emitPerRegister(e, op, [&](ArrayRef<Value*> in) -> Value* {
    if (fromBits < toBits) return e.ir().CreateFPExt(in[0], type);
    if (fromBits > toBits) return e.ir().CreateFPTrunc(in[0], type);
    if (in[0]->getType() == type) return in[0];
    return e.ir().CreateFPTrunc(e.ir().CreateFPExt(in[0], e.ir().getFloatTy()), type); // f16 and bf16
  });
}

} // namespace tiletwin::codegen
