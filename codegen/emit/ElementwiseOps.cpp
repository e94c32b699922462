// codegen/emit/ElementwiseOps.cpp -- arithmetic of integers and floats, comparisons, selections: once a register.
// Not here: conversions (CastOps.cpp), operations whose rounding a target chooses (they are tw's by now).
#include "codegen/emit/Elementwise.h"
#include "codegen/emit/TargetCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/IR/Intrinsics.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Instruction;
using llvm::Value;

namespace Intrinsic = llvm::Intrinsic;
using Intrinsic::ID;

namespace {

/// Division by zero, INT_MIN / -1 and shifts by the width or more have no meaning in LLVM, which may then draw conclusions
/// for other lanes; the hardware gives some number and goes on. So these are LLVM operations for constants only.
bool isSafeConstant(Instruction::BinaryOps code, Value* right) {
  auto* constant = llvm::dyn_cast<llvm::ConstantInt>(right);
  if (!constant) return false;
  if (Instruction::isShift(code)) return constant->getValue().ult(constant->getBitWidth());
  return !constant->isZero() && !constant->isMinusOne();
}

LogicalResult emitInteger(Emitter& e, Operation* op, Instruction::BinaryOps code) {
  bool careful = Instruction::isIntDivRem(code) || Instruction::isShift(code);
  return emitPerRegister(e, op, [&](ArrayRef<Value*> in) {
    if (careful && !isSafeConstant(code, in[1])) return e.code().integer(e, code, in[0], in[1]);
    return e.ir().CreateBinOp(code, in[0], in[1]);
  });
}

LogicalResult emitFloat(Emitter& e, Operation* op, Instruction::BinaryOps code) {
  return emitPerRegister(e, op, [&](ArrayRef<Value*> in) { return e.ir().CreateBinOp(code, in[0], in[1]); });
}

/// Floats of 8 bits: in f32.
LogicalResult emitFloat(Emitter& e, Operation* op, ID id) {
  return emitPerFloat(e, op, [&](ArrayRef<Value*> in) { return e.intrinsic(id, {in[0]->getType()}, in); });
}

LogicalResult emitIntrinsic(Emitter& e, Operation* op, ID id) {
  return emitPerRegister(e, op, [&](ArrayRef<Value*> in) { return e.intrinsic(id, {in[0]->getType()}, in); });
}

llvm::CmpInst::Predicate predicateOf(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq: return llvm::CmpInst::ICMP_EQ;
  case arith::CmpIPredicate::ne: return llvm::CmpInst::ICMP_NE;
  case arith::CmpIPredicate::slt: return llvm::CmpInst::ICMP_SLT;
  case arith::CmpIPredicate::sle: return llvm::CmpInst::ICMP_SLE;
  case arith::CmpIPredicate::sgt: return llvm::CmpInst::ICMP_SGT;
  case arith::CmpIPredicate::sge: return llvm::CmpInst::ICMP_SGE;
  case arith::CmpIPredicate::ult: return llvm::CmpInst::ICMP_ULT;
  case arith::CmpIPredicate::ule: return llvm::CmpInst::ICMP_ULE;
  case arith::CmpIPredicate::ugt: return llvm::CmpInst::ICMP_UGT;
  case arith::CmpIPredicate::uge: return llvm::CmpInst::ICMP_UGE;
  }
  llvm_unreachable("all predicates are above");
}

llvm::CmpInst::Predicate predicateOf(arith::CmpFPredicate predicate) {
  // Both number the predicates by four bits: unordered, less, greater, equal; only the order of the list differs.
  switch (predicate) {
  case arith::CmpFPredicate::AlwaysFalse: return llvm::CmpInst::FCMP_FALSE;
  case arith::CmpFPredicate::OEQ: return llvm::CmpInst::FCMP_OEQ;
  case arith::CmpFPredicate::OGT: return llvm::CmpInst::FCMP_OGT;
  case arith::CmpFPredicate::OGE: return llvm::CmpInst::FCMP_OGE;
  case arith::CmpFPredicate::OLT: return llvm::CmpInst::FCMP_OLT;
  case arith::CmpFPredicate::OLE: return llvm::CmpInst::FCMP_OLE;
  case arith::CmpFPredicate::ONE: return llvm::CmpInst::FCMP_ONE;
  case arith::CmpFPredicate::ORD: return llvm::CmpInst::FCMP_ORD;
  case arith::CmpFPredicate::UEQ: return llvm::CmpInst::FCMP_UEQ;
  case arith::CmpFPredicate::UGT: return llvm::CmpInst::FCMP_UGT;
  case arith::CmpFPredicate::UGE: return llvm::CmpInst::FCMP_UGE;
  case arith::CmpFPredicate::ULT: return llvm::CmpInst::FCMP_ULT;
  case arith::CmpFPredicate::ULE: return llvm::CmpInst::FCMP_ULE;
  case arith::CmpFPredicate::UNE: return llvm::CmpInst::FCMP_UNE;
  case arith::CmpFPredicate::UNO: return llvm::CmpInst::FCMP_UNO;
  case arith::CmpFPredicate::AlwaysTrue: return llvm::CmpInst::FCMP_TRUE;
  }
  llvm_unreachable("all predicates are above");
}

} // namespace

template <> LogicalResult emit(Emitter& e, arith::AddIOp op) { return emitInteger(e, op, Instruction::Add); }
template <> LogicalResult emit(Emitter& e, arith::SubIOp op) { return emitInteger(e, op, Instruction::Sub); }
template <> LogicalResult emit(Emitter& e, arith::MulIOp op) { return emitInteger(e, op, Instruction::Mul); }
template <> LogicalResult emit(Emitter& e, arith::DivSIOp op) { return emitInteger(e, op, Instruction::SDiv); }
template <> LogicalResult emit(Emitter& e, arith::DivUIOp op) { return emitInteger(e, op, Instruction::UDiv); }
template <> LogicalResult emit(Emitter& e, arith::RemSIOp op) { return emitInteger(e, op, Instruction::SRem); }
template <> LogicalResult emit(Emitter& e, arith::RemUIOp op) { return emitInteger(e, op, Instruction::URem); }
template <> LogicalResult emit(Emitter& e, arith::AndIOp op) { return emitInteger(e, op, Instruction::And); }
template <> LogicalResult emit(Emitter& e, arith::OrIOp op) { return emitInteger(e, op, Instruction::Or); }
template <> LogicalResult emit(Emitter& e, arith::XOrIOp op) { return emitInteger(e, op, Instruction::Xor); }
template <> LogicalResult emit(Emitter& e, arith::ShLIOp op) { return emitInteger(e, op, Instruction::Shl); }
template <> LogicalResult emit(Emitter& e, arith::ShRSIOp op) { return emitInteger(e, op, Instruction::AShr); }
template <> LogicalResult emit(Emitter& e, arith::ShRUIOp op) { return emitInteger(e, op, Instruction::LShr); }
template <> LogicalResult emit(Emitter& e, arith::MaxSIOp op) { return emitIntrinsic(e, op, Intrinsic::smax); }
template <> LogicalResult emit(Emitter& e, arith::MaxUIOp op) { return emitIntrinsic(e, op, Intrinsic::umax); }
template <> LogicalResult emit(Emitter& e, arith::MinSIOp op) { return emitIntrinsic(e, op, Intrinsic::smin); }
template <> LogicalResult emit(Emitter& e, arith::MinUIOp op) { return emitIntrinsic(e, op, Intrinsic::umin); }
template <> LogicalResult emit(Emitter& e, tt::PopcountOp op) { return emitIntrinsic(e, op, Intrinsic::ctpop); }
template <> LogicalResult emit(Emitter& e, arith::AddFOp op) { return emitFloat(e, op, Instruction::FAdd); }
template <> LogicalResult emit(Emitter& e, arith::SubFOp op) { return emitFloat(e, op, Instruction::FSub); }
template <> LogicalResult emit(Emitter& e, arith::MulFOp op) { return emitFloat(e, op, Instruction::FMul); }
template <> LogicalResult emit(Emitter& e, math::FmaOp op) { return emitIntrinsic(e, op, Intrinsic::fma); }
template <> LogicalResult emit(Emitter& e, arith::MaximumFOp op) { return emitFloat(e, op, Intrinsic::maximum); }
template <> LogicalResult emit(Emitter& e, arith::MaxNumFOp op) { return emitFloat(e, op, Intrinsic::maxnum); }
template <> LogicalResult emit(Emitter& e, arith::MinimumFOp op) { return emitFloat(e, op, Intrinsic::minimum); }
template <> LogicalResult emit(Emitter& e, arith::MinNumFOp op) { return emitFloat(e, op, Intrinsic::minnum); }
template <> LogicalResult emit(Emitter& e, math::AbsFOp op) { return emitFloat(e, op, Intrinsic::fabs); }
template <> LogicalResult emit(Emitter& e, math::CeilOp op) { return emitFloat(e, op, Intrinsic::ceil); }
template <> LogicalResult emit(Emitter& e, math::FloorOp op) { return emitFloat(e, op, Intrinsic::floor); }

template <> LogicalResult emit(Emitter& e, arith::CmpIOp op) {
  auto predicate = predicateOf(op.getPredicate());
  return emitPerRegister(e, op, [&](ArrayRef<Value*> in) { return e.ir().CreateICmp(predicate, in[0], in[1]); });
}

template <> LogicalResult emit(Emitter& e, arith::CmpFOp op) {
  auto predicate = predicateOf(op.getPredicate());
  return emitPerFloat(e, op, [&](ArrayRef<Value*> in) { return e.ir().CreateFCmp(predicate, in[0], in[1]); });
}

template <> LogicalResult emit(Emitter& e, arith::SelectOp op) {
  return emitPerRegister(e, op, [&](ArrayRef<Value*> in) { return e.ir().CreateSelect(in[0], in[1], in[2]); });
}

template <> LogicalResult emit(Emitter& e, arith::NegFOp op) {
  return emitPerFloat(e, op, [&](ArrayRef<Value*> in) { return e.ir().CreateFNeg(in[0]); });
}

template <> LogicalResult emit(Emitter& e, math::AbsIOp op) {
  return emitPerRegister(e, op, [&](ArrayRef<Value*> in) {
    return e.intrinsic(Intrinsic::abs, {in[0]->getType()}, {in[0], e.ir().getFalse()});
  });
}

template <> LogicalResult emit(Emitter& e, tt::MulhiUIOp op) {
  return emitPerRegister(e, op, [&](ArrayRef<Value*> in) {
    unsigned bits = in[0]->getType()->getIntegerBitWidth();
    llvm::Type* wide = e.ir().getIntNTy(2 * bits);
    Value* product = e.ir().CreateMul(e.ir().CreateZExt(in[0], wide), e.ir().CreateZExt(in[1], wide));
    return e.ir().CreateTrunc(e.ir().CreateLShr(product, bits), in[0]->getType());
  });
}

template <> LogicalResult emit(Emitter& e, tt::ClampFOp op) {
  // min(max(x, low), high); NaN operands follow tt.clampf's rule.
  bool propagate = op.getPropagateNan() == tt::PropagateNan::All;
  ID larger = propagate ? Intrinsic::maximum : Intrinsic::maxnum;
  ID smaller = propagate ? Intrinsic::minimum : Intrinsic::minnum;
  return emitPerFloat(e, op, [&](ArrayRef<Value*> in) {
    Value* raised = e.intrinsic(larger, {in[0]->getType()}, {in[0], in[1]});
    return e.intrinsic(smaller, {in[0]->getType()}, {raised, in[2]});
  });
}

// Functions of the device library. Their bodies are linked into the module when all of it is emitted (libdevice/Libdevice.h).
template <> LogicalResult emit(Emitter& e, tt::ExternElementwiseOp op) { return e.code().callLibrary(e, op); }

} // namespace tiletwin::codegen
