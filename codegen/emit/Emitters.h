// codegen/emit/Emitters.h -- the functions that Table.cpp's rows name, by family; each is defined in the file of its family.
#pragma once
#include "codegen/emit/Emitter.h"
#include "ir/Registry.h"

namespace tiletwin {
/// The operations on laid-out tiles, from their definitions.
using TWGOps = OpList<
#define GET_OP_LIST
#include "codegen/dialect/TWGOps.cpp.inc"
    >;
} // namespace tiletwin

namespace tiletwin::codegen {

/// One emitter: makes the results of an operation known to the Emitter. Fails with a diagnostic at the operation.
struct EmitRow {
  mlir::LogicalResult (*emit)(Emitter&, mlir::Operation*);
  bool everyFamily = true; ///< false: the emitter writes PTX itself
};
/// The row of an operation (Table.cpp); null: it is not emitted.
const EmitRow* findEmitRow(mlir::Operation* op);

// ElementwiseOps.cpp
mlir::LogicalResult emitInteger(Emitter&, mlir::Operation*, llvm::Instruction::BinaryOps);
mlir::LogicalResult emitFloat(Emitter&, mlir::Operation*, llvm::Instruction::BinaryOps);
mlir::LogicalResult emitIntrinsic(Emitter&, mlir::Operation*, llvm::Intrinsic::ID);
mlir::LogicalResult emitFloatIntrinsic(Emitter&, mlir::Operation*, llvm::Intrinsic::ID); ///< 8-bit floats: in f32
mlir::LogicalResult emitCompareIntegers(Emitter&, mlir::arith::CmpIOp);
mlir::LogicalResult emitCompareFloats(Emitter&, mlir::arith::CmpFOp);
mlir::LogicalResult emitSelect(Emitter&, mlir::arith::SelectOp);
mlir::LogicalResult emitNegate(Emitter&, mlir::arith::NegFOp);
mlir::LogicalResult emitAbsInteger(Emitter&, mlir::math::AbsIOp);
mlir::LogicalResult emitMulhi(Emitter&, tt::MulhiUIOp);
mlir::LogicalResult emitPopcount(Emitter&, tt::PopcountOp);
mlir::LogicalResult emitClamp(Emitter&, tt::ClampFOp);

// LibraryOps.cpp
mlir::LogicalResult emitExternElementwise(Emitter&, tt::ExternElementwiseOp);

// TwOps.cpp
mlir::LogicalResult emitTw(Emitter&, mlir::Operation*);

// CastOps.cpp
mlir::LogicalResult emitFloatCast(Emitter&, mlir::Operation*);
mlir::LogicalResult emitIndexCast(Emitter&, mlir::arith::IndexCastOp);
mlir::LogicalResult emitFloatToInteger(Emitter&, mlir::Operation*, bool isSigned);
mlir::LogicalResult emitIntegerCast(Emitter&, mlir::Operation*, llvm::Instruction::CastOps);
mlir::LogicalResult emitBitcast(Emitter&, mlir::Operation*); ///< pointers and integers, too
mlir::LogicalResult emitFpToFp(Emitter&, tt::FpToFpOp);

// MemoryOps.cpp
mlir::LogicalResult emitAddPtr(Emitter&, tt::AddPtrOp);
mlir::LogicalResult emitLoad(Emitter&, tt::LoadOp);
mlir::LogicalResult emitStore(Emitter&, tt::StoreOp);
mlir::LogicalResult emitPrefetch(Emitter&, tt::PrefetchOp);

// AtomicOps.cpp, AtomicPoll.cpp
mlir::LogicalResult emitAtomicRmw(Emitter&, tt::AtomicRMWOp);
mlir::LogicalResult emitAtomicCas(Emitter&, tt::AtomicCASOp);
mlir::LogicalResult emitAtomicLoad(Emitter&, tt::AtomicLoadOp);
mlir::LogicalResult emitAtomicStore(Emitter&, tt::AtomicStoreOp);
mlir::LogicalResult emitAtomicPoll(Emitter&, tt::AtomicPollOp);

// AsmOps.cpp, MapOps.cpp
mlir::LogicalResult emitInlineAsm(Emitter&, tt::ElementwiseInlineAsmOp);
mlir::LogicalResult emitMapElementwise(Emitter&, tt::MapElementwiseOp);

// DebugOps.cpp
mlir::LogicalResult emitPrint(Emitter&, tt::PrintOp);
mlir::LogicalResult emitAssert(Emitter&, tt::AssertOp);
mlir::LogicalResult emitAssume(Emitter&, mlir::LLVM::AssumeOp);
mlir::LogicalResult emitGridDependencyWait(Emitter&, tt::GridDependencyWaitOp);
mlir::LogicalResult emitGridDependencyLaunch(Emitter&, tt::GridDependencyLaunchDependentsOp);

// ShapeOps.cpp
mlir::LogicalResult emitConstant(Emitter&, mlir::arith::ConstantOp);
mlir::LogicalResult emitPoison(Emitter&, mlir::ub::PoisonOp);
mlir::LogicalResult emitMakeRange(Emitter&, tt::MakeRangeOp);
mlir::LogicalResult emitSplat(Emitter&, tt::SplatOp);
mlir::LogicalResult emitUnsplat(Emitter&, tt::UnsplatOp);
mlir::LogicalResult emitSameRegisters(Emitter&, mlir::Operation*); ///< expand_dims, reshape, trans
mlir::LogicalResult emitBroadcast(Emitter&, tt::BroadcastOp);
mlir::LogicalResult emitJoin(Emitter&, tt::JoinOp);
mlir::LogicalResult emitSplit(Emitter&, tt::SplitOp);
mlir::LogicalResult emitCat(Emitter&, tt::CatOp);

// DescriptorOps.cpp
mlir::LogicalResult emitMakeTensorDescriptor(Emitter&, tt::MakeTensorDescriptorOp);
mlir::LogicalResult emitDescriptorLoad(Emitter&, tt::DescriptorLoadOp);
mlir::LogicalResult emitDescriptorStore(Emitter&, tt::DescriptorStoreOp);
mlir::LogicalResult emitDescriptorGather(Emitter&, tt::DescriptorGatherOp);
mlir::LogicalResult emitDescriptorScatter(Emitter&, tt::DescriptorScatterOp);
mlir::LogicalResult emitDescriptorReduce(Emitter&, tt::DescriptorReduceOp);

// TensorCopyOps.cpp
mlir::LogicalResult emitMemDescView(Emitter&, twg::MemDescViewOp);
mlir::LogicalResult emitBarrierInit(Emitter&, twg::BarrierInitOp);
mlir::LogicalResult emitBarrierExpect(Emitter&, twg::BarrierExpectOp);
mlir::LogicalResult emitBarrierWait(Emitter&, twg::BarrierWaitOp);
mlir::LogicalResult emitNextPhase(Emitter&, twg::NextPhaseOp);
mlir::LogicalResult emitPhase(Emitter&, twg::PhaseOp);
mlir::LogicalResult emitProxyBarrier(Emitter&, twg::ProxyBarrierOp);
mlir::LogicalResult emitTensorLoad(Emitter&, twg::TensorLoadOp);
mlir::LogicalResult emitTensorStore(Emitter&, twg::TensorStoreOp);

// ConvertLayout.cpp
mlir::LogicalResult emitConvertLayout(Emitter&, twg::ConvertLayoutOp);

// ReduceOps.cpp
mlir::LogicalResult emitReduce(Emitter&, tt::ReduceOp);

// ScanOps.cpp
mlir::LogicalResult emitScan(Emitter&, tt::ScanOp);

// GatherOps.cpp
mlir::LogicalResult emitGather(Emitter&, tt::GatherOp);

// HistogramOps.cpp
mlir::LogicalResult emitHistogram(Emitter&, tt::HistogramOp);

// DotOps.cpp, DotWgmma.cpp
mlir::LogicalResult emitDot(Emitter&, tt::DotOp);
mlir::LogicalResult emitWarpgroupDot(Emitter&, twg::WarpgroupDotOp);
mlir::LogicalResult emitWarpgroupWait(Emitter&, twg::WarpgroupWaitOp);
mlir::LogicalResult emitRoundToTf32(Emitter&, twg::RoundToTf32Op);

// SharedOps.cpp
mlir::LogicalResult emitLocalAlloc(Emitter&, twg::LocalAllocOp);
mlir::LogicalResult emitLocalLoad(Emitter&, twg::LocalLoadOp);
mlir::LogicalResult emitLocalStore(Emitter&, twg::LocalStoreOp);
mlir::LogicalResult emitMemDescIndex(Emitter&, twg::MemDescIndexOp);
mlir::LogicalResult emitAsyncCopy(Emitter&, twg::AsyncCopyOp);
mlir::LogicalResult emitAsyncCommit(Emitter&, twg::AsyncCommitOp);
mlir::LogicalResult emitAsyncWait(Emitter&, twg::AsyncWaitOp);

// ProgramOps.cpp
mlir::LogicalResult emitProgramId(Emitter&, tt::GetProgramIdOp);
mlir::LogicalResult emitNumPrograms(Emitter&, tt::GetNumProgramsOp);
mlir::LogicalResult emitBarrier(Emitter&, ttg::BarrierOp);

// ControlFlow.cpp
mlir::LogicalResult emitFor(Emitter&, mlir::scf::ForOp);
mlir::LogicalResult emitIf(Emitter&, mlir::scf::IfOp);
mlir::LogicalResult emitWhile(Emitter&, mlir::scf::WhileOp);
mlir::LogicalResult emitExecuteRegion(Emitter&, mlir::scf::ExecuteRegionOp);
mlir::LogicalResult emitBranch(Emitter&, mlir::cf::BranchOp);
mlir::LogicalResult emitCondBranch(Emitter&, mlir::cf::CondBranchOp);
mlir::LogicalResult emitReturn(Emitter&, tt::ReturnOp);

} // namespace tiletwin::codegen
