// ir/Combining.h -- tt.reduce and tt.scan whose regions are one operation, as passes make them.
// Not here:  what regions of kernels do (interp/plan/ReduceOps.cpp, codegen/emit/ReduceOps.cpp).
#pragma once
#include "ir/TT.h"
#include "mlir/IR/Builders.h"

namespace tiletwin::tt {

/// Makes of two scalars one, at the builder's place.
using CombineFn = llvm::function_ref<mlir::Value(mlir::OpBuilder&, mlir::Location, mlir::Value, mlir::Value)>;
/// By one operation.
template <class Op> mlir::Value combineBy(mlir::OpBuilder& b, mlir::Location location, mlir::Value x, mlir::Value y) {
  return Op::create(b, location, x, y);
}

/// The tile's elements combined along an axis.
mlir::Value reduceTile(mlir::OpBuilder& b, mlir::Location location, mlir::Value tile, int axis, CombineFn combine);
/// Prefixes along the axis of another scan, in its direction.
mlir::Value scanTile(mlir::OpBuilder& b, mlir::Location location, mlir::Value tile, ScanOp like, CombineFn combine);

} // namespace tiletwin::tt
