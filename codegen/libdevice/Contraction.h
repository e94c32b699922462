// codegen/libdevice/Contraction.h -- fuses products with sums in functions of libdevice.
// Rule: that of ir/Contraction.h, for f32 and f64. An fadd or fsub x*y + z with a product of its own block becomes
//       fma(x, y, z). If both operands are products, the one with fewer uses goes into the fma, or the first if both
//       have as many. The last sum of a block comes first. About thirty functions have such sums (pow, the logarithms
//       of f64, Bessel functions). Where accuracy needs an fma, libdevice itself has one.
#pragma once
#include "llvm/IR/Function.h"

namespace tiletwin::codegen {

void contractProducts(llvm::Function& function);

} // namespace tiletwin::codegen
