// ir/ProbeOps.td -- probes: what TILETWIN_CHECK's passes put into a kernel to look at its values. They change no result.
// Not here:  the passes (Checks.h), what becomes of a finding (runtime/Findings.h).
#ifndef TILETWIN_PROBE_OPS
#define TILETWIN_PROBE_OPS

include "ir/TTTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

// Probes stay where they are, and are no access to global memory.
def TT_FindingsResource : Resource<"::tiletwin::tt::Findings">;
class TT_ProbeOp<string mnemonic, list<Trait> traits = []>
    : TT_Op<mnemonic, !listconcat(traits, [MemoryEffects<[MemWrite<TT_FindingsResource>]>])>;

def TT_WideFloat : AnyTypeOf<[F16, BF16, F32, F64], "f16, bf16, f32 or f64">;
def TT_WideFloatLike : AnyTypeOf<[TT_WideFloat, RankedTensorOf<[TT_WideFloat]>], "f16, bf16, f32, f64 or a tile of them">;
def TT_ProbeLanes : AnyTypeOf<[I1, I8, RankedTensorOf<[I1, I8]>], "i1 or i8, or a tile of them">;

def TT_ProbeLanesOp : TT_ProbeOp<"probe_lanes"> {
  let summary = "report the lanes in which something is wrong";
  let description = [{
    Where bad[i] is not 0, a finding of `check` is recorded: for i1 one about this place; for i8 one about this place and
    the origin whose `id` is bad[i] (unsigned). An origin is a dictionary: `id` (i32), `where` (a location), `operation` and
    `text`, optionally `advice`. With `at_origin` the finding's own place is the origin and this place is the second one.
    `probed` names the operation that is looked at; `message` and `advice` are parts of sentences.
    (C1) there are at most 255 origins, and for i8 at least one, each a dictionary with `id`, `where`, `operation` and `text`
    (C2) `at_origin` needs origins   (C3) `check` is a word of TILETWIN_CHECK   (C4) ids go from 1 to 255, and no two origins
    have the same.
    Traps: none.   In a kernel: put in by TILETWIN_CHECK.
  }];
  let arguments = (ins TT_ProbeLanes:$bad, StrAttr:$check, StrAttr:$probed, StrAttr:$message, StrAttr:$advice,
                       OptionalAttr<ArrayAttr>:$origins, UnitAttr:$at_origin);
  let assemblyFormat = "$bad `,` $check `,` $probed attr-dict `:` type($bad)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def TT_PromiseOp : TT_ProbeOp<"promise"> {
  let summary = "what the kernel promises about a value";
  let description = [{
    `kind` is "multiple_of", "max_contiguous" or "max_constancy", `values` has one number for each dimension (one for a
    scalar). It is recorded only if TILETWIN_CHECK wants promises checked; that check replaces it by a probe.
    (C1) the kind is one of these   (C2) one value for each dimension.
    Traps: none.   In a kernel: tl.multiple_of(x, 16), tl.max_contiguous(x, 16), tl.max_constancy(x, 16).
  }];
  let arguments = (ins TT_Value:$src, StrAttr:$kind, DenseI64ArrayAttr:$values);
  let assemblyFormat = "$kind $values `,` $src attr-dict `:` type($src)";
  let hasVerifier = 1;
}

def TT_NonFiniteOp : TT_Op<"nonfinite", [Pure, TT_SameShape,
    TypesMatchWith<"the result is i1 of the source's shape", "src", "result", "::tiletwin::tt::i1TypeLike($_self)">]> {
  let summary = "whether a number is NaN or infinite";
  let description = [{
    result[i] = src[i] is NaN or an infinity.
    Traps: none.   In a kernel: put in by TILETWIN_CHECK=nan.
  }];
  let arguments = (ins TT_WideFloatLike:$src);
  let results = (outs TT_I1Like:$result);
  let assemblyFormat = "$src attr-dict `:` type($src)";
}

def TT_BornOp : TT_Op<"born", [Pure, TT_SameShape,
    TypesMatchWith<"operands have one type", "value", "x", "$_self">,
    TypesMatchWith<"operands have one type", "value", "y", "$_self">,
    TypesMatchWith<"the result is i1 of the value's shape", "value", "result",
                   "::tiletwin::tt::i1TypeLike($_self)">]> {
  let summary = "whether a result is NaN or infinite because of its operation, not of its operands";
  let description = [{
    result[i] = value[i] is NaN and neither x[i] nor y[i] is, or value[i] is infinite and x[i] and y[i] are finite.
    Traps: none.   In a kernel: put in by TILETWIN_CHECK=nan.
  }];
  let arguments = (ins TT_WideFloatLike:$value, TT_WideFloatLike:$x, TT_WideFloatLike:$y);
  let results = (outs TT_I1Like:$result);
  let assemblyFormat = "$value `from` $x `,` $y attr-dict `:` type($value)";
}

#endif
