// ir/ReduceOps.td -- operations that combine elements along a dimension: reduce, scan, histogram.
#ifndef TILETWIN_REDUCE_OPS
#define TILETWIN_REDUCE_OPS

include "ir/TTTypes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

class TT_CombineOp<string mnemonic> : TT_Op<mnemonic, [
    RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let regions = (region SizedRegion<1>:$combineOp);
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getSrcType(unsigned i) {
      return ::llvm::cast<::mlir::RankedTensorType>(getSrcs()[i].getType());
    }
    ::mlir::Block& getCombineBlock() { return getCombineOp().front(); }
  }];
  let hasVerifier = 1;
}

def TT_ReduceOp : TT_CombineOp<"reduce"> {
  let summary = "combine all elements along one dimension";
  let description = [{
    For n operands the region takes 2n scalars (left tuple, right tuple) and returns n. result_k[.. without axis ..] is
    the combination of srcs_k's elements along axis; the region should be associative and commutative: grouping and
    order are free. A single element is the result as it stands.
    (C1) at least one operand, all of one shape   (C2) 0 <= axis < rank   (C3) one result per operand: its element
    type, its shape without axis; a scalar if the rank is 1   (C4) the region takes 2n scalars of the element types
    (C5) the terminator is tt.reduce.return of n scalars of the element types.
    Traps: what the region traps.   In a kernel: tl.sum, tl.max, tl.argmin, tl.reduce(x, axis, combine_fn), ...
  }];
  let arguments = (ins Variadic<TT_Tile>:$srcs, I32Attr:$axis);
  let results = (outs Variadic<TT_Value>:$result);
}

def TT_ReduceReturnOp : TT_Op<"reduce.return", [Pure, HasParent<"ReduceOp">, ReturnLike, Terminator]> {
  let summary = "the combined scalars";
  let description = [{ Number and types: tt.reduce, C5. }];
  let arguments = (ins Variadic<TT_Scalar>:$result);
  let assemblyFormat = "$result attr-dict `:` type($result)";
}

def TT_ScanOp : TT_CombineOp<"scan"> {
  let summary = "inclusive prefix combination along one dimension";
  let description = [{
    result_k[.., j, ..] combines srcs_k's elements 0 .. j along axis, earlier elements on the left; with `reverse` the
    elements extent-1 .. j, starting from the end. The region should be associative.
    (C1) at least one operand, all of one shape   (C2) 0 <= axis < rank   (C3) one result per operand, of its type
    (C4) the region takes 2n scalars of the element types   (C5) the terminator is tt.scan.return of n scalars of the
    element types.
    Traps: what the region traps.   In a kernel: tl.cumsum, tl.cumprod, tl.associative_scan(x, axis, combine_fn).
  }];
  let arguments = (ins Variadic<TT_Tile>:$srcs, I32Attr:$axis, BoolAttr:$reverse);
  let results = (outs Variadic<TT_Tile>:$result);
}

def TT_ScanReturnOp : TT_Op<"scan.return", [Pure, HasParent<"ScanOp">, ReturnLike, Terminator]> {
  let summary = "the combined scalars";
  let description = [{ Number and types: tt.scan, C5. }];
  let arguments = (ins Variadic<TT_Scalar>:$result);
  let assemblyFormat = "$result attr-dict `:` type($result)";
}

def TT_HistogramOp : TT_Op<"histogram", [Pure,
    TypesMatchWith<"the mask is i1 of the source's shape", "src", "mask", "::tiletwin::tt::i1TypeLike($_self)",
                   "!getMask() || std::equal_to<>()">]> {
  let summary = "count the elements that equal each bin's number";
  let description = [{
    result[b] = number of i with mask[i] and src[i] = b. Elements outside 0 .. bins-1 are not counted.
    (C1) src and result have rank 1.
    Traps: none.   In a kernel: tl.histogram(x, num_bins, mask).
  }];
  let arguments = (ins TT_IntTile:$src, Optional<TT_I1Tile>:$mask);
  let results = (outs TT_IntTile:$result);
  let assemblyFormat = "$src (`,` $mask^)? attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

#endif
