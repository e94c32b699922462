// codegen/passes/DotOperands.h -- operands of dots that go through shared memory in an order that ldmatrix reads.
#pragma once
#include "codegen/Codegen.h"
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Replaces conversions of dots' operands by an allocation in shared memory and a load from it, where a matrix load gives
/// the fragments' layout. Other conversions stay.
void shareDotOperands(tt::FuncOp kernel);

/// Of products without tensor cores whose operands would take most of a thread's registers: kept in shared memory and read
/// right before the product. Loads that feed them are no copies of a pipeline: those are for the steps before.
void keepLargeOperands(tt::FuncOp kernel, const Target& target);

/// A tile's copy in shared memory, right behind the tile; one for all that want it.
mlir::Value sharedCopy(mlir::Value tile, unsigned contiguous);

} // namespace tiletwin::codegen
