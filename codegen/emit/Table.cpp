// codegen/emit/Table.cpp -- which emitter makes which operation, sorted by the operation's name.
#include "codegen/emit/Emitters.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

using Code = llvm::Instruction::BinaryOps;
using Cast = llvm::Instruction::CastOps;

template <class Op> Op operationOf(LogicalResult (*)(Emitter&, Op));

/// The emitter of one class of operations.
template <auto Emit> auto row() {
  using Op = decltype(operationOf(Emit));
  return OpRow<Op, EmitRow>{{[](Emitter& e, Operation* op) { return Emit(e, cast<Op>(op)); }}};
}
/// One for several classes, with what they differ in.
template <class Op, auto Emit, auto... Difference> auto row() {
  return OpRow<Op, EmitRow>{{[](Emitter& e, Operation* op) { return Emit(e, op, Difference...); }}};
}
/// An emitter that writes PTX of its own.
template <class Op> OpRow<Op, EmitRow> onNvidia(OpRow<Op, EmitRow> row) {
  row.value.everyFamily = false;
  return row;
}

/// Operations that code is not made of.
// clang-format off: one reason a paragraph
using NotEmitted = OpList<
    // They are tw's operations and calls of the library by now (ir/Numerics.h).
    arith::DivFOp, arith::RemFOp, math::CosOp, math::ErfOp, math::Exp2Op, math::ExpOp, math::Log2Op, math::LogOp,
    math::RsqrtOp, math::SinOp, math::SqrtOp, tt::ApproxDivFOp, tt::PreciseDivFOp, tt::PreciseSqrtOp,
    // It is a product of widened operands (passes/DotScaled.cpp).
    tt::DotScaledOp,
    // They are inlined.
    tt::CallOp, tt::FuncOp,
    // They are parts of other operations.
    tt::MapElementwiseReturnOp, tt::ReduceReturnOp, tt::ScanReturnOp,
    // The interpreter checks and shows with them.
    tt::BornOp, tt::DebugBindOp, tt::DebugConstantOp, tt::DebugLineOp, tt::NonFiniteOp, tt::ProbeCallOp,
    tt::ProbeLanesOp, tt::PromiseOp>;
// clang-format on

const OpTable<EmitRow>& table() {
  // clang-format off: one row a line
  static const auto kTable = completeTable<EmitRow, NotEmitted,
      TTOps, TTGOps, TWOps, TWGOps, ArithOps, MathOps, ControlOps, OtherOps>(
      row<arith::AddFOp, emitFloat, Code::FAdd>(),
      row<arith::AddIOp, emitInteger, Code::Add>(),
      row<arith::AndIOp, emitInteger, Code::And>(),
      row<arith::BitcastOp, emitBitcast>(),
      row<emitCompareFloats>(),
      row<emitCompareIntegers>(),
      row<emitConstant>(),
      row<arith::DivSIOp, emitInteger, Code::SDiv>(),
      row<arith::DivUIOp, emitInteger, Code::UDiv>(),
      row<arith::ExtFOp, emitFloatCast>(),
      row<arith::ExtSIOp, emitIntegerCast, Cast::SExt>(),
      row<arith::ExtUIOp, emitIntegerCast, Cast::ZExt>(),
      row<arith::FPToSIOp, emitFloatToInteger, true>(),
      row<arith::FPToUIOp, emitFloatToInteger, false>(),
      row<emitIndexCast>(),
      row<arith::MaximumFOp, emitFloatIntrinsic, llvm::Intrinsic::maximum>(),
      row<arith::MaxNumFOp, emitFloatIntrinsic, llvm::Intrinsic::maxnum>(),
      row<arith::MaxSIOp, emitIntrinsic, llvm::Intrinsic::smax>(),
      row<arith::MaxUIOp, emitIntrinsic, llvm::Intrinsic::umax>(),
      row<arith::MinimumFOp, emitFloatIntrinsic, llvm::Intrinsic::minimum>(),
      row<arith::MinNumFOp, emitFloatIntrinsic, llvm::Intrinsic::minnum>(),
      row<arith::MinSIOp, emitIntrinsic, llvm::Intrinsic::smin>(),
      row<arith::MinUIOp, emitIntrinsic, llvm::Intrinsic::umin>(),
      row<arith::MulFOp, emitFloat, Code::FMul>(),
      row<arith::MulIOp, emitInteger, Code::Mul>(),
      row<emitNegate>(),
      row<arith::OrIOp, emitInteger, Code::Or>(),
      row<arith::RemSIOp, emitInteger, Code::SRem>(),
      row<arith::RemUIOp, emitInteger, Code::URem>(),
      row<emitSelect>(),
      row<arith::ShLIOp, emitInteger, Code::Shl>(),
      row<arith::ShRSIOp, emitInteger, Code::AShr>(),
      row<arith::ShRUIOp, emitInteger, Code::LShr>(),
      row<arith::SIToFPOp, emitIntegerCast, Cast::SIToFP>(),
      row<arith::SubFOp, emitFloat, Code::FSub>(),
      row<arith::SubIOp, emitInteger, Code::Sub>(),
      row<arith::TruncFOp, emitFloatCast>(),
      row<arith::TruncIOp, emitIntegerCast, Cast::Trunc>(),
      row<arith::UIToFPOp, emitIntegerCast, Cast::UIToFP>(),
      row<arith::XOrIOp, emitInteger, Code::Xor>(),
      row<emitBranch>(),
      row<emitCondBranch>(),
      row<emitAssume>(),
      row<math::AbsFOp, emitFloatIntrinsic, llvm::Intrinsic::fabs>(),
      row<emitAbsInteger>(),
      row<math::CeilOp, emitFloatIntrinsic, llvm::Intrinsic::ceil>(),
      row<math::FloorOp, emitFloatIntrinsic, llvm::Intrinsic::floor>(),
      row<math::FmaOp, emitIntrinsic, llvm::Intrinsic::fma>(),
      row<emitExecuteRegion>(),
      row<emitFor>(),
      row<emitIf>(),
      row<emitWhile>(),
      row<emitAddPtr>(),
      onNvidia(row<emitAssert>()),
      onNvidia(row<emitAtomicCas>()),
      onNvidia(row<emitAtomicLoad>()),
      onNvidia(row<emitAtomicPoll>()),
      onNvidia(row<emitAtomicRmw>()),
      onNvidia(row<emitAtomicStore>()),
      row<tt::BitcastOp, emitBitcast>(),
      row<emitBroadcast>(),
      row<emitCat>(),
      row<emitClamp>(),
      onNvidia(row<emitDescriptorGather>()),
      onNvidia(row<emitDescriptorLoad>()),
      onNvidia(row<emitDescriptorReduce>()),
      onNvidia(row<emitDescriptorScatter>()),
      onNvidia(row<emitDescriptorStore>()),
      row<emitDot>(),
      onNvidia(row<emitInlineAsm>()),
      row<tt::ExpandDimsOp, emitSameRegisters>(),
      row<emitExternElementwise>(),
      row<emitFpToFp>(),
      row<emitGather>(),
      row<emitNumPrograms>(),
      row<emitProgramId>(),
      onNvidia(row<emitGridDependencyLaunch>()),
      onNvidia(row<emitGridDependencyWait>()),
      onNvidia(row<emitHistogram>()),
      row<tt::IntToPtrOp, emitBitcast>(),
      row<emitJoin>(),
      row<emitLoad>(),
      row<emitMakeRange>(),
      onNvidia(row<emitMakeTensorDescriptor>()),
      row<emitMapElementwise>(),
      row<emitMulhi>(),
      row<emitPopcount>(),
      onNvidia(row<emitPrefetch>()),
      onNvidia(row<emitPrint>()),
      row<tt::PtrToIntOp, emitBitcast>(),
      row<emitReduce>(),
      row<tt::ReshapeOp, emitSameRegisters>(),
      row<emitReturn>(),
      row<emitScan>(),
      row<emitSplat>(),
      row<emitSplit>(),
      row<emitStore>(),
      row<tt::TransOp, emitSameRegisters>(),
      row<emitUnsplat>(),
      row<emitBarrier>(),
      row<tw::DivApproxOp, emitTw>(),
      row<tw::DivFullOp, emitTw>(),
      row<tw::DivRnOp, emitTw>(),
      row<tw::Ex2ApproxOp, emitTw>(),
      row<tw::RsqrtApproxOp, emitTw>(),
      row<tw::SqrtApproxOp, emitTw>(),
      row<tw::SqrtRnOp, emitTw>(),
      row<tw::TruncOp, emitTw>(),
      onNvidia(row<emitAsyncCommit>()),
      onNvidia(row<emitAsyncCopy>()),
      onNvidia(row<emitAsyncWait>()),
      onNvidia(row<emitBarrierExpect>()),
      onNvidia(row<emitBarrierInit>()),
      onNvidia(row<emitBarrierWait>()),
      row<emitConvertLayout>(),
      onNvidia(row<emitLocalAlloc>()),
      onNvidia(row<emitLocalLoad>()),
      onNvidia(row<emitLocalStore>()),
      onNvidia(row<emitMemDescIndex>()),
      onNvidia(row<emitMemDescView>()),
      onNvidia(row<emitNextPhase>()),
      onNvidia(row<emitPhase>()),
      onNvidia(row<emitProxyBarrier>()),
      onNvidia(row<emitRoundToTf32>()),
      onNvidia(row<emitTensorLoad>()),
      onNvidia(row<emitTensorStore>()),
      onNvidia(row<emitWarpgroupDot>()),
      onNvidia(row<emitWarpgroupWait>()),
      row<emitPoison>());
  // clang-format on
  return kTable;
}

} // namespace

const EmitRow* findEmitRow(Operation* op) { return table().find(op); }

const std::vector<std::string_view>& emittedOperations() { return table().names(); }

} // namespace tiletwin::codegen
