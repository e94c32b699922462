// sim/isa/Contract.h -- products and sums that the GPU's compiler makes one fused multiply-add.
//
// Here:      contractProducts() and invertDivisors(), passes over a function before it is decoded.
// Not here:  fma itself (Float.cpp). fma.rn, mul.rn and add.rn in the text are never touched.
// Rule:      found by giving ptxas 13 small kernels for sm_90 and reading what it made of them. A mul without rounding and .sat
//            becomes part of an add or sub without rounding, of the same type and .ftz, if
//              - all uses of the product are such sums, in the same basic block, directly or through mov or neg, and none adds
//                it to itself: a product that is also stored, compared or multiplied stays a product of its own;
//              - its mul has no guard (the sum may have one).
//            An approximate quotient (div.approx, div.full) ends with a product, which is fused like one. If its divisor is a number it is a
//            product with the reciprocal from the start.
//            Of two such products in one sum the first operand's is fused; the second one stays a product in all of its sums. So are f32, f64, f16, bf16 and their pairs.
// Differs:   a product whose factors are overwritten before the sum stays apart here; ptxas fuses it. Registers that are written in
//            several places count as used elsewhere. Compilers write neither.
#pragma once
#include "sim/ptx/Ptx.h"
#include <string_view>

namespace tiletwin::sim {

/// Words that only this pass writes (no text has them): the product, or the addend, of an fma is negated; a div has a third
/// source, which is added.
inline constexpr std::string_view kNegatedProduct = "-product", kNegatedAddend = "-addend", kQuotientSum = "-sum";

/// Turns approximate quotients by numbers into products, which ptxas does under -fmad=false, too.
void invertDivisors(ptx::Function& function);
/// Turns sums into fmas, and takes the products out.
void contractProducts(ptx::Function& function);

} // namespace tiletwin::sim
