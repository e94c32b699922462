// ir/ShapeOps.td -- operations that make tiles and move elements without computing: ranges, splats, reshapes, gather.
#ifndef TILETWIN_SHAPE_OPS
#define TILETWIN_SHAPE_OPS

include "ir/TTTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def TT_MakeRangeOp : TT_Op<"make_range", [Pure]> {
  let summary = "integers start .. end-1 as a rank-1 tile";
  let description = [{
    result[i] = start + i for 0 <= i < N, where result is tensor<Nxi32>. `start` and `end` are signed.
    (C1) start < end   (C2) end - start = N.
    Traps: none.   In a kernel: tl.arange(start, end).
  }];
  let arguments = (ins I32Attr:$start, I32Attr:$end);
  let results = (outs TT_I32Tile:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def TT_SplatOp : TT_Op<"splat", [Pure]> {
  let summary = "a tile with one value everywhere";
  let description = [{
    result[i...] = src.
    (C1) the result's element type is the type of src.
    Traps: none.   In a kernel: implied when a scalar meets a tile; tl.full(shape, value, dtype).
  }];
  let arguments = (ins TT_Scalar:$src);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TT_UnsplatOp : TT_Op<"unsplat", [Pure, TypesMatchWith<"the result is the tile's element", "src", "result",
                                     "::mlir::cast<::mlir::RankedTensorType>($_self).getElementType()">]> {
  let summary = "the only element of a tile";
  let description = [{
    result = src[0, ..., 0].
    (C1) src has one element.
    Traps: none.   In a kernel: implied where a one-element tile stands as a scalar, such as in `if`.
  }];
  let arguments = (ins TT_Tile:$src);
  let results = (outs TT_Scalar:$result);
  let assemblyFormat = "$src attr-dict `:` type($src)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TT_ExpandDimsOp : TT_Op<"expand_dims", [Pure]> {
  let summary = "insert a dimension of extent 1";
  let description = [{
    result[i_0, .., i_(axis-1), 0, i_axis, ..] = src[i...].
    (C1) 0 <= axis <= rank of src   (C2) the result's shape is the shape of src with 1 inserted at axis
    (C3) element types are equal.
    Traps: none.   In a kernel: x[:, None], tl.expand_dims(x, axis).
  }];
  let arguments = (ins TT_Tile:$src, I32Attr:$axis);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def TT_BroadcastOp : TT_Op<"broadcast", [Pure]> {
  let summary = "repeat a tile along its dimensions of extent 1";
  let description = [{
    result[i...] = src[j...] with j_d = 0 where src's extent is 1, else j_d = i_d.
    (C1) ranks are equal   (C2) in each dimension src's extent is 1 or the result's   (C3) element types are equal.
    Traps: none.   In a kernel: implied by binary operators; tl.broadcast_to(x, shape).
  }];
  let arguments = (ins TT_Tile:$src);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def TT_ReshapeOp : TT_Op<"reshape", [Pure]> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{
    result[i...] = src[j...] where i and j have the same row-major number. With `allow_reorder` a backend may place the
    elements in any order; the interpreter keeps row-major order.
    (C1) element counts are equal   (C2) element types are equal.
    Traps: none.   In a kernel: tl.reshape(x, shape), tl.ravel(x).
  }];
  let arguments = (ins TT_Tile:$src, UnitAttr:$allow_reorder, UnitAttr:$efficient_layout);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = [{
    $src (`allow_reorder` $allow_reorder^)? (`efficient_layout` $efficient_layout^)? attr-dict
    `:` type($src) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def TT_TransOp : TT_Op<"trans", [Pure]> {
  let summary = "permute the dimensions of a tile";
  let description = [{
    result[i_order(0), .., i_order(r-1)] = src[i_0, .., i_(r-1)]: dimension d of the result is dimension order[d]
    of src.
    (C1) order is a permutation of 0 .. rank-1   (C2) the result's extent d is src's extent order[d]
    (C3) element types are equal.
    Traps: none.   In a kernel: x.T, tl.trans(x), tl.permute(x, order).
  }];
  let arguments = (ins TT_Tile:$src, DenseI32ArrayAttr:$order);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def TT_JoinOp : TT_Op<"join", [Pure, TypesMatchWith<"operands have one type", "lhs", "rhs", "$_self">]> {
  let summary = "two tiles side by side in a new last dimension";
  let description = [{
    result[i..., 0] = lhs[i...], result[i..., 1] = rhs[i...].
    (C1) the result's shape is the operands' shape followed by 2   (C2) element types are equal.
    Traps: none.   In a kernel: tl.join(a, b).
  }];
  let arguments = (ins TT_Tile:$lhs, TT_Tile:$rhs);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}

def TT_SplitOp : TT_Op<"split", [Pure, TypesMatchWith<"results have one type", "outLHS", "outRHS", "$_self">]> {
  let summary = "the two halves of a tile whose last dimension is 2";
  let description = [{
    outLHS[i...] = src[i..., 0], outRHS[i...] = src[i..., 1].
    (C1) src's last extent is 2 and its rank at least 2   (C2) the results' shape is src's without the last dimension
    (C3) element types are equal.
    Traps: none.   In a kernel: a, b = tl.split(x).
  }];
  let arguments = (ins TT_Tile:$src);
  let results = (outs TT_Tile:$outLHS, TT_Tile:$outRHS);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($outLHS)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TT_CatOp : TT_Op<"cat", [Pure, TypesMatchWith<"operands have one type", "lhs", "rhs", "$_self">]> {
  let summary = "the elements of two tiles in one, in any order";
  let description = [{
    result holds the elements of lhs and of rhs, each once. The order is free; the interpreter puts lhs first along
    dimension 0.
    (C1) the result's shape is the operands' with extent 0 doubled   (C2) element types are equal.
    Traps: none.   In a kernel: tl.cat(a, b, can_reorder=True).
  }];
  let arguments = (ins TT_Tile:$lhs, TT_Tile:$rhs);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}

def TT_GatherOp : TT_Op<"gather", [Pure]> {
  let summary = "pick elements of a tile by index along one dimension";
  let description = [{
    result[i...] = src[i... with i_axis replaced by indices[i...]].
    (C1) src, indices and result have one rank   (C2) 0 <= axis < rank   (C3) result has the shape of indices
    (C4) src and indices have equal extents except along axis   (C5) src and result have one element type.
    Traps: an index that is not in 0 .. extent(axis)-1.   In a kernel: tl.gather(src, index, axis).
  }];
  let arguments = (ins TT_Tile:$src, TT_IntTile:$indices, I32Attr:$axis, UnitAttr:$efficient_layout);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$src `[` $indices `]` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif
