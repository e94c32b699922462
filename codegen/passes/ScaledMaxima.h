// codegen/passes/ScaledMaxima.h -- the largest of scaled numbers, as the largest number, scaled.
//
// Here:      reductions to maxima and minima of products with one factor, in a loop. Not here: what is done where the factor
//            does not allow it, which is a second loop's (AffineLoads.h).
//
// Idea: rounding keeps order, so for a finite factor above zero max(round(x * factor)) is round(max(x) * factor), bit for
//       bit: signs of zeros, infinities and NaN too. That takes one multiplication for a result instead of one for an element.
#pragma once
#include "ir/TT.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tiletwin::codegen {

/// Rewrites reductions of f32 tiles that nobody else needs scaled, in the body of a loop that a branch holds, if their factors
/// can be computed in front of the branch. The branch is then taken if, besides, they are finite and above zero.
void scaleMaximaLast(mlir::scf::ForOp loop, mlir::scf::IfOp branch);

} // namespace tiletwin::codegen
