// codegen/passes/DotOperands.h -- operands of dots that go through shared memory in an order that ldmatrix reads.
#pragma once
#include "codegen/Codegen.h"
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Replaces conversions of dots' operands by an allocation in shared memory and a load from it, where a matrix load gives
/// the fragments' layout, or lanes that read words meet in no bank. An operand of several products is there once. Other
/// conversions stay.
void shareDotOperands(tt::FuncOp kernel);

/// A transposed tile in shared memory is the tile in shared memory, seen transposed: it is stored once for both, and a
/// tile that is loaded can be copied there.
void shareTransposed(tt::FuncOp kernel);

/// The same for loads that feed products without tensor cores in loops: in shared memory, which a pipeline can fill
/// iterations ahead, if all stages find room in half of it.
void shareLoadedOperands(tt::FuncOp kernel, const Target& target, const Options& options);

/// Of products without tensor cores whose operands would take most of a thread's registers: kept in shared memory and read
/// right before the product. These are not copied ahead: stages would multiply their memory.
void keepLargeOperands(tt::FuncOp kernel, const Target& target);

/// A tile's copy in shared memory, right behind the tile; one for all that want it.
mlir::Value sharedCopy(mlir::Value tile, unsigned contiguous);
/// The same as wgmma or, `isTensor`, tcgen05 reads a matrix with that dimension as its K (DotLayouts.h).
mlir::Value matrixCopy(mlir::Value tile, unsigned kDimension, bool isTensor);

} // namespace tiletwin::codegen
