// codegen/libdevice/Contraction.h -- fuses products with sums in functions of libdevice.
// Rule: the one of ir/Contraction.h for f32 and f64: x*y + z = fma(x, y, z) for an fadd or fsub of a product of its block, of two
//       products the one with fewer uses, of equals the first; from the last sum to the first.
//       About thirty functions have such sums (pow, the logarithms of f64, Bessel functions); where accuracy hangs on an fma
//       libdevice itself says fma.
#pragma once
#include "llvm/IR/Function.h"

namespace tiletwin::codegen {

void contractProducts(llvm::Function& function);

} // namespace tiletwin::codegen
