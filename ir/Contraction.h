// ir/Contraction.h -- products that are added to something become fused multiply-adds.
//
// Here:      contractProducts(), a step of the numerics pass under enable_fp_fusion.
// Rule:      a sum (arith.addf, arith.subf) of f16, bf16, f32 or f64 becomes math.fma if one of its operands is a product
//            (arith.mulf) or a product's negation (arith.negf) in the sum's own block. Then
//              x*y + z = fma(x, y, z)    x*y - z = fma(x, y, -z)    z - x*y = fma(-x, y, z)
//            - What else the product is used for does not matter; it stays for those uses.
//            - If both operands are products, the one that has fewer uses then is fused, of equals the first; a negated one
//              only if both are.
//            - x*y + x*y, one value twice, becomes fma(x, y, x*y) if it is of f32 or f64 and has no other use; x*y - x*y stays.
//            - Sums are looked at from the last one to the first; a fused sum is no product, so chains end there.
//            A product that reaches the sum through a broadcast, a cast or a block argument is not seen.
//            This is what Triton's compiler does within a block, for tiles of which every operation is one instruction.
#pragma once
#include "mlir/IR/Operation.h"

namespace tiletwin::tt {

/// In all regions of `root`.
void contractProducts(mlir::Operation* root);

} // namespace tiletwin::tt
