// codegen/emit/nvptx/NumberOps.cpp -- numbers by PTX instructions, where LLVM has no operation of their meaning.
#include "codegen/emit/Elementwise.h"
#include "codegen/emit/nvptx/Nvptx.h"
#include "codegen/libdevice/Libdevice.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Instruction;
using llvm::Type;
using llvm::Value;

/// On 32 bits, or on 64; narrower operands are widened, which leaves the low bits of the result as they are.
Value* Nvptx::integer(Emitter& e, Instruction::BinaryOps code, Value* left, Value* right) const {
  llvm::IRBuilder<>& b = e.ir();
  bool isShift = Instruction::isShift(code);
  bool isSigned = code == Instruction::SDiv || code == Instruction::SRem || code == Instruction::AShr;
  Type* type = left->getType();
  unsigned bits = type->getIntegerBitWidth(), width = bits > 32 ? 64 : 32;
  Type* wide = b.getIntNTy(width);
  left = isSigned ? b.CreateSExt(left, wide) : b.CreateZExt(left, wide);
  if (isShift) { // shifts clamp their 32-bit amount to the width
    if (bits == 64) right = e.intrinsic(llvm::Intrinsic::umin, {right->getType()}, {right, b.getInt64(64)});
    right = b.CreateZExtOrTrunc(right, b.getInt32Ty());
  } else {
    right = isSigned ? b.CreateSExt(right, wide) : b.CreateZExt(right, wide);
  }
  const char* name = code == Instruction::SDiv || code == Instruction::UDiv   ? "div"
                     : code == Instruction::SRem || code == Instruction::URem ? "rem"
                     : code == Instruction::Shl                               ? "shl"
                                                                              : "shr";
  const char* kind = code == Instruction::Shl ? "b" : isSigned ? "s" : "u";
  std::string text = std::string(name) + "." + kind + std::to_string(width) + " $0, $1, $2;";
  const char* reg = width == 64 ? "l" : "r";
  std::string constraints = std::string("=") + reg + "," + reg + "," + (isShift ? "r" : reg);
  return b.CreateTrunc(e.inlinePtx(text, constraints, {wide}, {left, right}, false).front(), type);
}

Value* Nvptx::floatToInt(Emitter& e, Value* value, Type* to, bool isSigned) const {
  bool isDouble = value->getType()->isDoubleTy();
  unsigned bits = to->getIntegerBitWidth();
  if (bits == 16) {
    std::string text = std::string("cvt.rzi.") + (isSigned ? "s16" : "u16") + (isDouble ? ".f64" : ".f32") + " $0, $1;";
    return e.inlinePtx(text, isDouble ? "=h,d" : "=h,f", {to}, {value}, false).front();
  }
  using namespace llvm::Intrinsic;
  ID id;
  if (bits == 32)
    id = isDouble ? (isSigned ? nvvm_d2i_rz : nvvm_d2ui_rz) : (isSigned ? nvvm_f2i_rz : nvvm_f2ui_rz);
  else
    id = isDouble ? (isSigned ? nvvm_d2ll_rz : nvvm_d2ull_rz) : (isSigned ? nvvm_f2ll_rz : nvvm_f2ull_rz);
  return e.intrinsic(id, {}, {value});
}

Value* Nvptx::cutToFloat(Emitter& e, Value* number) const {
  return e.intrinsic(llvm::Intrinsic::nvvm_d2f_rz, {}, {number});
}

Value* Nvptx::cutToHalf(Emitter& e, Value* number) const {
  llvm::IRBuilder<>& b = e.ir();
  Value* bits = e.inlinePtx("cvt.rz.f16.f32 $0, $1;", "=h,f", {b.getInt16Ty()}, {number}, false).front();
  return b.CreateBitCast(bits, b.getHalfTy());
}

namespace {

/// What ir/TWOps.td names as the PTX of an operation: without .ftz, and the types it has.
struct TwInstruction {
  llvm::StringLiteral name, text, tail; ///< "sqrt.approx" and "": sqrt.approx[.ftz].f32
};
constexpr TwInstruction kInstructions[] = {
    {"tw.div_approx", "div.approx", ""}, {"tw.div_full", "div.full", ""},         {"tw.div_rn", "div.rn", ""},
    {"tw.ex2_approx", "ex2.approx", ""}, {"tw.rsqrt_approx", "rsqrt.approx", ""}, {"tw.sqrt_approx", "sqrt.approx", ""},
    {"tw.sqrt_rn", "sqrt.rn", ""},       {"tw.trunc", "cvt.rzi", ".f"},
};

} // namespace

/// One instruction each, written as it stands.
Value* Nvptx::tw(Emitter& e, Operation* op, ArrayRef<Value*> operands) const {
  const TwInstruction* row =
      llvm::find_if(kInstructions, [&](const TwInstruction& i) { return i.name == op->getName().getStringRef(); });
  if (row == std::end(kInstructions)) return (void)notCompiled(op, e), nullptr;
  unsigned bits = tt::elementTypeOf(op->getResult(0).getType()).getIntOrFloatBitWidth();
  std::string type = ".f" + std::to_string(bits);
  std::string text =
      row->text.str() + (op->hasAttr("ftz") ? ".ftz" : "") + type + (row->tail.empty() ? "" : type) + " $0";
  std::string constraints = bits == 64 ? "=d" : "=f";
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    text += ", $" + std::to_string(i + 1);
    constraints += bits == 64 ? ",d" : ",f";
  }
  return e.inlinePtx(text + ";", constraints, {operands[0]->getType()}, operands, false).front();
}

LogicalResult Nvptx::callLibrary(Emitter& e, Operation* op) const {
  auto call = cast<tt::ExternElementwiseOp>(op);
  const StringRef symbol = call.getSymbol(), known = libdeviceSignature(symbol);
  if (known.empty()) {
    InFlightDiagnostic error = op->emitOpError() << "calls `" << symbol << "`, which libdevice does not have";
    if (!call.getLibpath().empty()) error << "; functions of " << call.getLibpath() << " cannot be called";
    return failure();
  }
  llvm::SmallVector<Type*> parameters;
  for (mlir::Type type : op->getOperandTypes()) parameters.push_back(e.typeOf(tt::elementTypeOf(type)));
  auto* type = llvm::FunctionType::get(e.typeOf(tt::elementTypeOf(call.getResult().getType())), parameters, false);
  if (std::string given = signatureText(*type); given != known)
    return op->emitOpError() << "calls `" << symbol << "` as " << given << ", but in libdevice it is " << known;
  llvm::FunctionCallee callee = e.module().getOrInsertFunction(symbol, type);
  return emitPerRegister(e, op, [&](ArrayRef<Value*> x) { return e.ir().CreateCall(callee, x); });
}

} // namespace tiletwin::codegen
