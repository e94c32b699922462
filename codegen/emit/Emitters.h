// codegen/emit/Emitters.h -- the functions that Table.cpp's rows name, by family; each is defined in the file of its family.
#pragma once
#include "codegen/emit/Emitter.h"

namespace tiletwin::codegen {

// ElementwiseOps.cpp
mlir::LogicalResult emitBinaryInteger(Emitter&, mlir::Operation*);
mlir::LogicalResult emitBinaryFloat(Emitter&, mlir::Operation*);
mlir::LogicalResult emitMinMax(Emitter&, mlir::Operation*);
mlir::LogicalResult emitCompare(Emitter&, mlir::Operation*);
mlir::LogicalResult emitSelect(Emitter&, mlir::Operation*);
mlir::LogicalResult emitUnaryMath(Emitter&, mlir::Operation*);
mlir::LogicalResult emitFma(Emitter&, mlir::Operation*);
mlir::LogicalResult emitMulhi(Emitter&, mlir::Operation*);
mlir::LogicalResult emitClamp(Emitter&, mlir::Operation*);
mlir::LogicalResult emitNothing(Emitter&, mlir::Operation*);

// LibraryOps.cpp
mlir::LogicalResult emitExternElementwise(Emitter&, mlir::Operation*);

// TwOps.cpp
mlir::LogicalResult emitTw(Emitter&, mlir::Operation*);

// CastOps.cpp
mlir::LogicalResult emitCast(Emitter&, mlir::Operation*);
mlir::LogicalResult emitBitcast(Emitter&, mlir::Operation*);
mlir::LogicalResult emitFpToFp(Emitter&, mlir::Operation*);

// MemoryOps.cpp
mlir::LogicalResult emitAddPtr(Emitter&, mlir::Operation*);
mlir::LogicalResult emitLoad(Emitter&, mlir::Operation*);
mlir::LogicalResult emitStore(Emitter&, mlir::Operation*);

// AtomicOps.cpp, AtomicPoll.cpp
mlir::LogicalResult emitAtomicRmw(Emitter&, mlir::Operation*);
mlir::LogicalResult emitAtomicCas(Emitter&, mlir::Operation*);
mlir::LogicalResult emitAtomicLoad(Emitter&, mlir::Operation*);
mlir::LogicalResult emitAtomicStore(Emitter&, mlir::Operation*);
mlir::LogicalResult emitAtomicPoll(Emitter&, mlir::Operation*);

// AsmOps.cpp, MapOps.cpp
mlir::LogicalResult emitInlineAsm(Emitter&, mlir::Operation*);
mlir::LogicalResult emitMapElementwise(Emitter&, mlir::Operation*);

// DebugOps.cpp
mlir::LogicalResult emitPrint(Emitter&, mlir::Operation*);
mlir::LogicalResult emitAssert(Emitter&, mlir::Operation*);
mlir::LogicalResult emitAssume(Emitter&, mlir::Operation*);
mlir::LogicalResult emitGridDependencyWait(Emitter&, mlir::Operation*);
mlir::LogicalResult emitGridDependencyLaunch(Emitter&, mlir::Operation*);

// ShapeOps.cpp
mlir::LogicalResult emitConstant(Emitter&, mlir::Operation*);
mlir::LogicalResult emitPoison(Emitter&, mlir::Operation*);
mlir::LogicalResult emitMakeRange(Emitter&, mlir::Operation*);
mlir::LogicalResult emitSplat(Emitter&, mlir::Operation*);
mlir::LogicalResult emitUnsplat(Emitter&, mlir::Operation*);
mlir::LogicalResult emitSameRegisters(Emitter&, mlir::Operation*); ///< expand_dims, reshape, trans
mlir::LogicalResult emitBroadcast(Emitter&, mlir::Operation*);
mlir::LogicalResult emitJoin(Emitter&, mlir::Operation*);
mlir::LogicalResult emitSplit(Emitter&, mlir::Operation*);
mlir::LogicalResult emitCat(Emitter&, mlir::Operation*);

// DescriptorOps.cpp
mlir::LogicalResult emitMakeTensorDescriptor(Emitter&, mlir::Operation*);
mlir::LogicalResult emitDescriptorLoad(Emitter&, mlir::Operation*);
mlir::LogicalResult emitDescriptorStore(Emitter&, mlir::Operation*);
mlir::LogicalResult emitDescriptorGather(Emitter&, mlir::Operation*);
mlir::LogicalResult emitDescriptorScatter(Emitter&, mlir::Operation*);
mlir::LogicalResult emitDescriptorReduce(Emitter&, mlir::Operation*);

// TensorCopyOps.cpp
mlir::LogicalResult emitMemDescView(Emitter&, mlir::Operation*);
mlir::LogicalResult emitBarrierInit(Emitter&, mlir::Operation*);
mlir::LogicalResult emitBarrierExpect(Emitter&, mlir::Operation*);
mlir::LogicalResult emitBarrierWait(Emitter&, mlir::Operation*);
mlir::LogicalResult emitProxyBarrier(Emitter&, mlir::Operation*);
mlir::LogicalResult emitTensorLoad(Emitter&, mlir::Operation*);
mlir::LogicalResult emitTensorStore(Emitter&, mlir::Operation*);

// ConvertLayout.cpp
mlir::LogicalResult emitConvertLayout(Emitter&, mlir::Operation*);

// ReduceOps.cpp
mlir::LogicalResult emitReduce(Emitter&, mlir::Operation*);

// ScanOps.cpp
mlir::LogicalResult emitScan(Emitter&, mlir::Operation*);

// GatherOps.cpp
mlir::LogicalResult emitGather(Emitter&, mlir::Operation*);

// HistogramOps.cpp
mlir::LogicalResult emitHistogram(Emitter&, mlir::Operation*);

// DotOps.cpp, DotWgmma.cpp
mlir::LogicalResult emitDot(Emitter&, mlir::Operation*);
mlir::LogicalResult emitWarpgroupDot(Emitter&, mlir::Operation*);
mlir::LogicalResult emitWarpgroupWait(Emitter&, mlir::Operation*);
mlir::LogicalResult emitRoundToTf32(Emitter&, mlir::Operation*);

// SharedOps.cpp
mlir::LogicalResult emitLocalAlloc(Emitter&, mlir::Operation*);
mlir::LogicalResult emitLocalLoad(Emitter&, mlir::Operation*);
mlir::LogicalResult emitLocalStore(Emitter&, mlir::Operation*);
mlir::LogicalResult emitMemDescIndex(Emitter&, mlir::Operation*);
mlir::LogicalResult emitAsyncCopy(Emitter&, mlir::Operation*);
mlir::LogicalResult emitAsyncCommit(Emitter&, mlir::Operation*);
mlir::LogicalResult emitAsyncWait(Emitter&, mlir::Operation*);

// ProgramOps.cpp
mlir::LogicalResult emitProgramId(Emitter&, mlir::Operation*);
mlir::LogicalResult emitNumPrograms(Emitter&, mlir::Operation*);
mlir::LogicalResult emitBarrier(Emitter&, mlir::Operation*);

// ControlFlow.cpp
mlir::LogicalResult emitFor(Emitter&, mlir::Operation*);
mlir::LogicalResult emitIf(Emitter&, mlir::Operation*);
mlir::LogicalResult emitWhile(Emitter&, mlir::Operation*);
mlir::LogicalResult emitExecuteRegion(Emitter&, mlir::Operation*);
mlir::LogicalResult emitBranch(Emitter&, mlir::Operation*);
mlir::LogicalResult emitCondBranch(Emitter&, mlir::Operation*);
mlir::LogicalResult emitReturn(Emitter&, mlir::Operation*);

} // namespace tiletwin::codegen
