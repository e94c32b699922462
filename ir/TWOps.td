// ir/TWOps.td -- the operations of tw: one PTX instruction each. The dialect's rules: TWDialect.td.
#ifndef TILETWIN_TW_OPS
#define TILETWIN_TW_OPS

include "ir/TWDialect.td"

class TW_BinaryOp<string mnemonic, Type type> : TW_Op<mnemonic> {
  let arguments = (ins type:$x, type:$y);
  let results = (outs type:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($result)";
}
class TW_UnaryOp<string mnemonic, Type type> : TW_Op<mnemonic> {
  let arguments = (ins type:$x);
  let results = (outs type:$result);
  let assemblyFormat = "$x attr-dict `:` type($result)";
}
class TW_ApproxOp<string mnemonic, Type type> : TW_Op<mnemonic> {
  let arguments = (ins type:$x, UnitAttr:$ftz);
  let results = (outs type:$result);
  let assemblyFormat = "$x (`ftz` $ftz^)? attr-dict `:` type($result)";
}

def TW_DivRnOp : TW_BinaryOp<"div_rn", TW_F32OrF64Like> {
  let summary = "division, correctly rounded";
  let description = [{
    result = x / y, rounded to nearest even. x / 0 is an infinity of the quotient's sign, 0 / 0 and inf / inf are NaN;
    denormals are numbers, overflow gives an infinity.
    PTX: div.rn.f32, div.rn.f64.
  }];
}

def TW_DivFullOp : TW_BinaryOp<"div_full", TW_F32Like> {
  let summary = "division in the full range, within 2 ulp";
  let description = [{
    result = x / y with an error of at most 2 ulp over all f32 numbers, denormal results and operands included. Zeros,
    infinities and NaN: as tw.div_rn.
    PTX: div.full.f32.   `x / y` of f32 tiles.
  }];
}

def TW_DivApproxOp : TW_BinaryOp<"div_approx", TW_F32Like> {
  let summary = "division by a reciprocal, within 2 ulp where the divisor is of middle size";
  let description = [{
    result = x * (1 / y) with at most 2 ulp of error for 2^-126 <= |y| <= 2^126. For 2^126 < |y| < 2^128 it is 0, and NaN
    if x is infinite. Zeros, infinities and NaN as operands: as tw.div_rn.
    PTX: div.approx.f32.   tl.fdiv(x, y, approx=True); the reciprocal of a constant divisor.
  }];
}

def TW_SqrtRnOp : TW_UnaryOp<"sqrt_rn", TW_F32OrF64Like> {
  let summary = "square root, correctly rounded";
  let description = [{
    result = sqrt(x), rounded to nearest even. NaN for x < 0; sqrt(-0) = -0, sqrt(inf) = inf.
    PTX: sqrt.rn.f32, sqrt.rn.f64.
  }];
}

def TW_SqrtApproxOp : TW_ApproxOp<"sqrt_approx", TW_F32Like> {
  let summary = "square root, nearly";
  let description = [{
    result = sqrt(x) with a relative error of at most 2^-23. NaN for x < 0 (with `ftz` a negative denormal gives -0);
    sqrt(-0) = -0, sqrt(inf) = inf.
    PTX: sqrt.approx.f32, sqrt.approx.ftz.f32.
  }];
}

def TW_RsqrtApproxOp : TW_ApproxOp<"rsqrt_approx", TW_F32OrF64Like> {
  let summary = "reciprocal square root, nearly";
  let description = [{
    result = 1 / sqrt(x) with a relative error of at most 2^-22.9 (f32) or 2^-51.3 (f64). NaN for x < 0; +0 and -0 give
    infinities of their sign, inf gives +0.
    (C1) `ftz` is given for f32 only.
    PTX: rsqrt.approx.f32, rsqrt.approx.ftz.f32, rsqrt.approx.f64.
  }];
  let hasVerifier = 1;
}

def TW_Ex2ApproxOp : TW_ApproxOp<"ex2_approx", TW_F32Like> {
  let summary = "2 to the power of x, nearly";
  let description = [{
    result = 2^x with an error of at most 2 ulp. +0 and -0 give 1, -inf gives +0; x >= 128 gives inf. Below -126 the
    result is a denormal, with `ftz` 0.
    PTX: ex2.approx.f32, ex2.approx.ftz.f32.   tl.exp(x) is ex2_approx of x * log2(e) rounded to f32.
  }];
}

def TW_TruncOp : TW_UnaryOp<"trunc", TW_F32OrF64Like> {
  let summary = "the integer next to x, toward zero";
  let description = [{
    result = x without its fraction, of x's sign (trunc(-0.5) = -0); exact. Infinities and NaN stay.
    PTX: cvt.rzi.f32.f32, cvt.rzi.f64.f64.   A step of `x % y`.
  }];
}

#endif
