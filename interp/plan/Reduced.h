// interp/plan/Reduced.h -- what reductions and scans share: the shape they see, and their source as rows.
// Here:      Axes; rows of a value; sums that compute what they add.
// Not here:  which function reduces (ReduceOps.cpp, Sums.cpp).
#pragma once
#include "interp/plan/Builder.h"

namespace tiletwin::interp {

/// A tile seen as [outer][axis][inner].
struct Axes {
  int64_t outer = 1, axis = 1, inner = 1;
};
inline Axes axesOf(llvm::ArrayRef<int64_t> shape, int64_t axis) {
  Axes a;
  for (size_t d = 0; d < shape.size(); ++d)
    (int64_t(d) < axis ? a.outer : int64_t(d) == axis ? a.axis : a.inner) *= shape[d];
  return a;
}

/// The value as rows of contiguous [axis][inner] blocks, copied first if it must be: strides are those of rows and of elements.
/// A view's element stride is known at run time only and checked there.
TileRef rowsOf(PlanBuilder& plan, mlir::Value v, DType type, llvm::ArrayRef<int64_t> shape, int64_t axis);

/// A sum of f32 along the last axis whose operand is a product, or widened from 16 bits, takes that over: its numbers are not
/// stored. False: the sum is another one, or it would not help (Sums.cpp).
bool planSum(PlanBuilder& plan, tt::ReduceOp op);

} // namespace tiletwin::interp
