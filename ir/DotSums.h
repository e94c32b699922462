// ir/DotSums.h -- a product of matrices that is added to something accumulates there.
//
// Here:      foldDotSums(), a step of the numerics pass, and which sums Triton folds, for the tester's bounds.
// Rule:      dot(a, b, 0) + d and d + dot(a, b, 0) become dot(a, b, d), for tt.dot and tt.dot_scaled, floats and integers, if
//            - the accumulator is the constant 0 (of either sign) in every element, or a splat of it;
//            - the sum has the product's own type: nothing is cast in between;
//            - nothing else uses the product, and it is in the sum's block. Triton also moves it from outside of a loop into
//              it, where it would be computed again and again;
//            - the product is of integers, or its maxNumImpreciseAcc is 0.
//            Of two such products the one on the right is folded: in `acc += tl.dot(a, b)` that is the later one. Differences
//            (arith.subf, arith.subi) stay.
//            Triton does this in "ttir" whatever the options are, with enable_fp_fusion=False too. Here "ttir" stays as it was
//            written, because the interpreter runs it: eager mode, which sees one operation at a time, must get its bits.
// Effects:   integers stay exact. Floats are rounded with the partial sums of the product instead of once behind it; a zero
//            may get another sign, and a product that overflows may not do so together with what it is added to.
#pragma once
#include "mlir/IR/Operation.h"

namespace tiletwin::tt {

/// The product that a sum adds to something and that Triton would fold, wherever it is and whatever else uses it; null: none.
mlir::Operation* dotInSum(mlir::Operation* sum);

/// Folds in all regions of `root`.
void foldDotSums(mlir::Operation* root);

} // namespace tiletwin::tt
