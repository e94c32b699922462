// ir/DotOps.td -- matrix products.
#ifndef TILETWIN_DOT_OPS
#define TILETWIN_DOT_OPS

include "ir/TTTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def TT_DotOp : TT_Op<"dot", [Pure, TypesMatchWith<"the accumulator has the result's type", "d", "c", "$_self">]> {
  let summary = "matrix product plus accumulator";
  let description = [{
    d[m, n] = c[m, n] + sum over k of a[m, k] * b[k, n]; at rank 3 for each batch (dimension 0). The order of summation
    is free. `inputPrecision` says how f32 operands are read: `tf32` drops the low 13 bits of their mantissas, `ieee`
    keeps them, `tf32x3`, `bf16x3` and `bf16x6` split each into two or three smaller numbers and add the products that
    matter. Products of 8-bit integers are exact and sums wrap at 32 bits;
    on GPUs without `wgmma`, and for small tiles, they saturate there. `maxNumImpreciseAcc` allows an f8 dot to keep
    that many products in a narrower accumulator.
    (C1) a, b and d have one rank, 2 or 3   (C2) a is [B x] M x K, b is [B x] K x N, d is [B x] M x N
    (C3) a and b have one element type, or both are f8   (C4) floats give floats, integers (i8) give i32.
    Traps: none.   In a kernel: tl.dot(a, b, acc, input_precision=...).
  }];
  let arguments = (ins TT_NumberTile:$a, TT_NumberTile:$b, TT_NumberTile:$c,
                       DefaultValuedAttr<TT_InputPrecision, "::tiletwin::tt::InputPrecision::IEEE">:$inputPrecision,
                       DefaultValuedAttr<I32Attr, "0">:$maxNumImpreciseAcc);
  let results = (outs TT_NumberTile:$d);
  let assemblyFormat = [{
    $a `,` $b `,` $c (`,` `inputPrecision` `=` $inputPrecision^)? attr-dict
    `:` type($a) `*` type($b) `->` type($d)
  }];
  let hasVerifier = 1;
}

def TT_DotScaledOp : TT_Op<"dot_scaled", [Pure, AttrSizedOperandSegments,
    TypesMatchWith<"the accumulator has the result's type", "d", "c", "$_self">]> {
  let summary = "matrix product of narrow floats with a power-of-two scale for each group";
  let description = [{
    d[m, n] = c[m, n] + sum over k of a[m, k] * 2^(a_scale[m, k / 32] - 127) * b[k, n] * 2^(b_scale[n, k / 32] - 127).
    Scales are e8m0 in i8 (255: NaN), or numbers in f8E4M3FN; a missing scale is 1. `e2m1` operands hold two numbers in
    an i8, the one with the lower k in the low bits, along K (or along M of a / N of b if lhs_k_pack / rhs_k_pack is
    false). b_scale is N x K/32.
    Scaled numbers are rounded to bf16, or to f16 if an operand is f16 (then the scales too: 2^16 and more are infinite);
    products are summed in f32. With `fastMath` NaN scales count as infinite.
    (C1) a, b and d have rank 2, or 3 with a batch dimension   (C2) K (after unpacking) is the same in a and b
    (C3) d is M x N   (C4) a_scale is M x K/G and b_scale N x K/G with G 16 or 32, of i8 or f8E4M3FN   (C5) the element types suit the
    formats: i8 for e2m1; f8E4M3FN or i8 for e4m3; f8E5M2 or i8 for e5m2; bf16; f16 for fp16.
    Traps: none.   In a kernel: tl.dot_scaled(a, a_scale, "e2m1", b, b_scale, "e4m3", acc).
  }];
  let arguments = (ins TT_NumberTile:$a, TT_NumberTile:$b, TT_FloatTile:$c, Optional<TT_NumberTile>:$a_scale,
                       Optional<TT_NumberTile>:$b_scale, TT_ScaleDotElemType:$a_elem_type,
                       TT_ScaleDotElemType:$b_elem_type, BoolAttr:$fastMath,
                       DefaultValuedAttr<BoolAttr, "true">:$lhs_k_pack,
                       DefaultValuedAttr<BoolAttr, "true">:$rhs_k_pack);
  let results = (outs TT_FloatTile:$d);
  let assemblyFormat = [{
    $a (`scale` $a_scale^)? `,` $b (`scale` $b_scale^)? `,` $c `lhs` `=` $a_elem_type `rhs` `=` $b_elem_type attr-dict
    `:` type($a) (`,` type($a_scale)^)? `*` type($b) (`,` type($b_scale)^)? `->` type($d)
  }];
  let hasVerifier = 1;
}

#endif
