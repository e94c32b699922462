// codegen/passes/DotOperands.h -- operands of dots that go through shared memory in an order that ldmatrix reads.
#pragma once
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Replaces conversions of dots' operands by an allocation in shared memory and a load from it, where a matrix load gives
/// the fragments' layout. Other conversions stay.
void shareDotOperands(tt::FuncOp kernel);

/// A tile's copy in shared memory, right behind the tile; one for all that want it.
mlir::Value sharedCopy(mlir::Value tile, unsigned contiguous);

} // namespace tiletwin::codegen
