// ir/ElementwiseOps.td -- lane-by-lane computation beyond arith and math. Pointer arithmetic: MemoryOps.td.
#ifndef TILETWIN_ELEMENTWISE_OPS
#define TILETWIN_ELEMENTWISE_OPS

include "ir/TTTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def TT_BitcastOp : TT_Op<"bitcast", [Pure, TT_SameShape, Elementwise]> {
  let summary = "the same bits under another type";
  let description = [{
    result has the bits of src.
    (C1) both are pointers, or both are numbers of one width.
    Traps: none.   In a kernel: x.to(dtype, bitcast=True); a cast of a pointer to another pointer type.
  }];
  let arguments = (ins TT_Value:$src);
  let results = (outs TT_Value:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TT_FpToFpOp : TT_Op<"fp_to_fp", [Pure, TT_SameShape, Elementwise]> {
  let summary = "convert between float formats";
  let description = [{
    result = src rounded to the result's format: to nearest, ties to even (`rtne`), or toward zero (`rtz`). Widening is
    exact. Narrowing from f16, bf16 or f32 to an f8 format saturates: values beyond the largest finite number become
    that number, infinities too; NaN stays NaN. Narrowing to f16 or bf16 overflows to infinity (rtne) or the largest
    finite number (rtz).
    (C1) `rounding` is given if the result is narrower; between formats of one width it may be absent (then rtne)
    (C2) `rounding` is absent if the result is wider.
    Traps: none.   In a kernel: x.to(tl.float8e5), x.to(tl.bfloat16, fp_downcast_rounding="rtz").
  }];
  let arguments = (ins TT_FloatLike:$src, OptionalAttr<TT_RoundingMode>:$rounding);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$src attr-dict (`,` `rounding` `=` $rounding^)? `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TT_ClampFOp : TT_Op<"clampf", [Pure, SameOperandsAndResultType, Elementwise]> {
  let summary = "limit to an interval";
  let description = [{
    result = minimum(maximum(x, min), max). With propagateNan = none a NaN in x counts as absent (result: min); with
    propagateNan = all it gives NaN. The order of -0 and +0 is -0 < +0. Undefined if min > max or if a limit is NaN.
    Traps: none.   In a kernel: tl.clamp(x, min, max, propagate_nan).
  }];
  let arguments = (ins TT_FloatLike:$x, TT_FloatLike:$min, TT_FloatLike:$max, TT_PropagateNan:$propagateNan);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$x `,` $min `,` $max `,` `propagateNan` `=` $propagateNan attr-dict `:` type($result)";
}

class TT_DivOp<string mnemonic> : TT_Op<mnemonic, [Pure, SameOperandsAndResultType, Elementwise]> {
  let arguments = (ins TT_F32Like:$x, TT_F32Like:$y);
  let results = (outs TT_F32Like:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}

def TT_PreciseDivFOp : TT_DivOp<"precise_divf"> {
  let summary = "correctly rounded f32 division";
  let description = [{
    result = x / y rounded to nearest even, with IEEE-754 rules for zeros, infinities, NaNs and denormals.
    Traps: none.   In a kernel: tl.div_rn(x, y), tl.fdiv(x, y, ieee_rounding=True).
  }];
}

def TT_ApproxDivFOp : TT_DivOp<"approx_divf"> {
  let summary = "fast f32 division";
  let description = [{
    result = x * (1 / y) with at most 2 ulp of error for 2^-126 <= |y| <= 2^126; for larger |y| the result may be 0 (or
    NaN if x is infinite). The interpreter divides with correct rounding.
    Traps: none.   In a kernel: tl.fdiv(x, y, approx=True).
  }];
}

def TT_PreciseSqrtOp : TT_Op<"precise_sqrt", [Pure, SameOperandsAndResultType, Elementwise]> {
  let summary = "correctly rounded square root";
  let description = [{
    result = sqrt(x) rounded to nearest even; NaN for x < 0, and sqrt(-0) = -0.
    Traps: none.   In a kernel: tl.sqrt_rn(x).
  }];
  let arguments = (ins TT_FloatLike:$x);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def TT_MulhiUIOp : TT_Op<"mulhiui", [Pure, Commutative, SameOperandsAndResultType, Elementwise]> {
  let summary = "upper half of the unsigned product";
  let description = [{
    result = (x * y) >> w with x and y unsigned of w bits and the product exact.
    (C1) w is 32 or 64.
    Traps: none.   In a kernel: tl.umulhi(x, y).
  }];
  let arguments = (ins TT_IntLike:$x, TT_IntLike:$y);
  let results = (outs TT_IntLike:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TT_PopcountOp : TT_Op<"popcount", [Pure, SameOperandsAndResultType, Elementwise]> {
  let summary = "how many bits are 1";
  let description = [{
    result = the number of ones among the w bits of x, as an integer of x's type: 0 <= result <= w. The sign is a bit
    like any other.
    (C1) w is 8, 16, 32 or 64.
    Traps: none.   In a kernel: tl.popcount(x).
  }];
  let arguments = (ins TT_IntLike:$x);
  let results = (outs TT_IntLike:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasVerifier = 1;
}

def TT_MapElementwiseOp : TT_Op<"map_elementwise", [
    RecursiveMemoryEffects, SingleBlockImplicitTerminator<"MapElementwiseReturnOp">]> {
  let summary = "run a scalar program for each group of lanes";
  let description = [{
    The region takes `pack` neighbouring lanes (row-major order) of each operand and returns `pack` lanes of each
    result: arguments are operand 0's lanes, then operand 1's, ...; returned values are result 0's lanes, then
    result 1's, ... Unlike elementwise operations the region may branch on its arguments.
    (C1) operands and results are tiles of one shape   (C2) pack >= 1 divides the element count
    (C3) the region has pack arguments per operand, of its element type
    (C4) the terminator returns pack values per result, of its element type.
    Traps: what the region traps.   In a kernel: tl.map_elementwise(fn, x, y, pack=1).
  }];
  let arguments = (ins Variadic<TT_Tile>:$srcs, I32Attr:$pack);
  let results = (outs Variadic<TT_Tile>:$result);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
}

def TT_MapElementwiseReturnOp : TT_Op<"map_elementwise.return", [
    Pure, HasParent<"MapElementwiseOp">, ReturnLike, Terminator]> {
  let summary = "the lanes that tt.map_elementwise's region computes";
  let description = [{ Order and types: tt.map_elementwise, C4. }];
  let arguments = (ins Variadic<TT_Scalar>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

def TT_ExternElementwiseOp : TT_Op<"extern_elementwise", [
    TT_SameShape, Elementwise, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ConditionallySpeculatable>]> {
  let summary = "a function of a device library, lane by lane";
  let description = [{
    result[i] = symbol(srcs[i]...). `symbol` names a libdevice function (`__nv_tanhf`) or one of the library `libname`
    at `libpath`. `pure` promises that it depends on its operands only.
    (C1) `symbol` is not empty.
    Traps: a symbol the backend does not know is an error when the kernel is compiled.   In a kernel: libdevice.tanh(x).
  }];
  let arguments = (ins Variadic<TT_Value>:$srcs, StrAttr:$libname, StrAttr:$libpath, StrAttr:$symbol, BoolAttr:$pure);
  let results = (outs TT_Value:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

def TT_ElementwiseInlineAsmOp : TT_Op<"elementwise_inline_asm", [
    TT_SameShape, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ConditionallySpeculatable>]> {
  let summary = "PTX text, for each group of lanes";
  let description = [{
    The text runs once for each `packed_element` neighbouring lanes; types narrower than 32 bits are packed into 32-bit
    registers. $0, $1, ... are the results' registers, then the operands', as `constraints` lists them.
    (C1) packed_element >= 1   (C2) there is a result.
    Traps: text that the interpreter cannot run is an error when the kernel is compiled.
    In a kernel: tl.inline_asm_elementwise(...).
  }];
  let arguments = (ins StrAttr:$asm_string, StrAttr:$constraints, BoolAttr:$pure, I32Attr:$packed_element,
                       Variadic<TT_Value>:$args);
  let results = (outs Variadic<TT_Value>:$result);
  let assemblyFormat = "$asm_string attr-dict ($args^ `:` type($args))? `->` type($result)";
  let hasVerifier = 1;
}

#endif
