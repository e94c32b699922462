// codegen/dialect/TWGShared.td -- tiles in shared memory: their type, and the operations that move tiles there and back.
#ifndef TILETWIN_TWG_SHARED
#define TILETWIN_TWG_SHARED

include "codegen/dialect/TWGDialect.td"

def TWG_SharedAttr : AttrDef<TWG_Dialect, "Shared"> {
  let mnemonic = "shared";
  let summary = "the order of a tile's elements in shared memory";
  let description = [{
    `#twg.shared<contiguous = 1, swizzle = 128>`: elements that differ in dimension `contiguous` lie side by side, in rows
    of `swizzle` bytes (all of the dimension if it is shorter or swizzle is 0); longer dimensions are cut into columns of
    such rows. Pieces of `piece` bytes change places inside as many rows as a row of swizzle bytes has pieces, so that a
    column of pieces meets every bank once (codegen/layout/SharedLayout.h).
    (C1) swizzle is 0, 32, 64 or 128   (C2) piece is 16, as tensor copies and warpgroup products want it, or 32.
  }];
  let parameters = (ins "unsigned":$contiguous, "unsigned":$swizzle, DefaultValuedParameter<"unsigned", "16">:$piece);
  let builders = [AttrBuilder<(ins "unsigned":$contiguous, "unsigned":$swizzle),
                              [{ return $_get($_ctxt, contiguous, swizzle, 16u); }]>];
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` struct(params) `>`";
}

def TWG_ScratchAttr : AttrDef<TWG_Dialect, "Scratch"> {
  let mnemonic = "scratch";
  let summary = "shared memory that an operation uses while it runs";
  let description = [{
    `twg.scratch = #twg.scratch<offset = 0, bytes = 512, barriers = 1>` on an operation whose elements go from warp to warp:
    threads write these bytes, wait for each other `barriers` times, and read what others wrote. A barrier before the
    operation says that nobody reads the bytes any more; an operation that writes only behind its own first barrier (a
    reduction, after its steps in each warp, or what one thread does for all) needs none.
  }];
  let parameters = (ins "unsigned":$offset, "unsigned":$bytes, "unsigned":$barriers);
  let assemblyFormat = "`<` struct(params) `>`";
}

def TWG_MemDescType : TypeDef<TWG_Dialect, "MemDesc"> {
  let mnemonic = "memdesc";
  let summary = "a tile in shared memory";
  let description = [{
    `!twg.memdesc<128x64xf16, #twg.shared<...>>`. A dimension before those of the layout's tile counts buffers.
    (C1) two dimensions or more, the extents of the last two are powers of two   (C2) elements are numbers of 8 bits or more
    (C3) contiguous is one of the last two dimensions, and as long as the swizzle.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, "SharedAttr":$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TWG_LocalAllocOp : TWG_Op<"local_alloc", [MemoryEffects<[MemAlloc, MemWrite]>]> {
  let summary = "shared memory for a tile";
  let description = [{
    The memory holds `src`, if there is one. It is free again after its last use. `offset` is its place in the CTA's
    shared memory in bytes, which a pass assigns.
    (C1) source and result have one shape and element type.
  }];
  let arguments = (ins Optional<AnyRankedTensor>:$src, OptionalAttr<I32Attr>:$offset);
  let results = (outs TWG_MemDescType:$result);
  let assemblyFormat = "($src^ `:` type($src))? attr-dict `->` type($result)";
  let hasVerifier = 1;
}

def TWG_LocalLoadOp : TWG_Op<"local_load", [MemoryEffects<[MemRead]>]> {
  let summary = "a tile from shared memory";
  let description = [{ result[i] = src[i]. (C1) one shape and element type. }];
  let arguments = (ins TWG_MemDescType:$src);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

def TWG_LocalStoreOp : TWG_Op<"local_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "a tile to shared memory, from registers";
  let description = [{
    dst[i] = src[i]; warpgroup dots see it too. Other threads' elements are there behind a barrier. (C1) one shape and
    element type.
  }];
  let arguments = (ins AnyRankedTensor:$src, TWG_MemDescType:$dst);
  let assemblyFormat = "$src `,` $dst attr-dict `:` type($src) `->` type($dst)";
  let hasVerifier = 1;
}

def TWG_MemDescIndexOp : TWG_Op<"memdesc_index", [Pure]> {
  let summary = "one of several buffers";
  let description = [{ result[i] = src[index, i]. Traps: none; (C1) 0 <= index < the first extent of src
    (C2) the result is one buffer of src, its elements in the same order. }];
  let arguments = (ins TWG_MemDescType:$src, I32:$index);
  let results = (outs TWG_MemDescType:$result);
  let assemblyFormat = "$src `[` $index `]` attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

def TWG_AsyncCopyOp : TWG_Op<"async_copy", [MemoryEffects<[MemRead, MemWrite]>, AttrSizedOperandSegments]> {
  let summary = "a tile from global to shared memory, on its way while the program goes on";
  let description = [{
    dst[i] = mask[i] ? *ptr[i] : 0, done when a twg.async_wait says so; nothing if `enabled` is false.
    (C1) each thread's accesses are of 4, 8 or 16 bytes (attribute twg.vector)   (C2) ptr, mask and dst have one shape, ptr
    points to dst's elements, mask is of i1.
  }];
  let arguments = (ins AnyRankedTensor:$ptr, TWG_MemDescType:$dst, Optional<AnyRankedTensor>:$mask, Optional<I1>:$enabled);
  let assemblyFormat = "$ptr `,` $dst (`mask` $mask^)? (`if` $enabled^)? attr-dict `:` type($ptr) `->` type($dst) (`,` type($mask)^)?";
  let hasVerifier = 1;
}

def TWG_AsyncCommitOp : TWG_Op<"async_commit", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the copies begun since the last one are a group";
  let assemblyFormat = "attr-dict";
}

def TWG_AsyncWaitOp : TWG_Op<"async_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until at most `pending` groups of copies are on their way";
  let description = [{
    Of this thread: behind a barrier all threads see what the others' copies brought; `fenced`: so do warpgroup dots.
  }];
  let arguments = (ins I32Attr:$pending, UnitAttr:$fenced);
  let assemblyFormat = "$pending (`fenced` $fenced^)? attr-dict";
}

def TWG_WarpgroupDotOp : TWG_Op<"warpgroup_dot", [MemoryEffects<[MemRead]>]> {
  let summary = "a matrix product by warpgroups, from shared memory";
  let description = [{
    d = c + a * b as tt.dot says, by `wgmma`, in ascending order along K. The instruction's first matrix is `a`, its second
    `b`; of a `transposed` product, dT = cT + bT * aT, they are `b` and `a`. The first one is in shared memory or in
    registers, the second in shared memory. rows: bit i of a row's number in the instruction is bit rows[i] of its number in
    the first matrix; none: the same bit. f8 products are summed in the instruction's narrower accumulator.
    The product is begun: it reads `a` and `b` until a twg.warpgroup_wait says that it is done. A pass puts that wait right
    behind a product that is not `in_flight`, and a twg.warpgroup_fence, of which `c` and a matrix in registers are results,
    in front of each (passes/Groups.h).
    (C1) K of 8- and 32-bit operands in shared memory is their contiguous dimension   (C2) rows there are swizzled
    (C3) in flight: `d` has elements of 32 bits and is used by further products in flight, as their `c`,
    by twg.warpgroup_fence, by twg.warpgroup_wait, and by what ends a block   (C4) `rows` names each bit once
    (C5) pieces in shared memory have 16 bytes.
  }];
  let arguments = (ins AnyTypeOf<[AnyRankedTensor, TWG_MemDescType]>:$a,
                       AnyTypeOf<[AnyRankedTensor, TWG_MemDescType]>:$b, AnyRankedTensor:$c, UnitAttr:$transposed,
                       UnitAttr:$inFlight, OptionalAttr<DenseI32ArrayAttr>:$rows);
  let results = (outs AnyRankedTensor:$d);
  let assemblyFormat = [{
    $a `,` $b `,` $c (`transposed` $transposed^)? (`in_flight` $inFlight^)? attr-dict
    `:` type($a) `*` type($b) `,` type($c) `->` type($d)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The instruction's first and second matrix.
    mlir::OpOperand& first() { return getOperation()->getOpOperand(getTransposed() ? 1 : 0); }
    mlir::OpOperand& second() { return getOperation()->getOpOperand(getTransposed() ? 0 : 1); }
  }];
}

def TWG_WarpgroupFenceOp : TWG_Op<"warpgroup_fence", [
    MemoryEffects<[MemRead, MemWrite]>,
    RangedTypesMatchWith<"each result has its tile's type", "tiles", "results", "$_self">]> {
  let summary = "products that begin behind it see what is in these registers";
  let description = [{
    results[i] = tiles[i]: the sum that a product adds to and, if it is in registers, its first matrix. (C1) the results
    are used by products alone   (C2) there are one or two.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$tiles);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$tiles attr-dict `:` type($tiles)";
  let hasVerifier = 1;
}

def TWG_WarpgroupCommitOp : TWG_Op<"warpgroup_commit", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the products begun since the last one are a group";
  let assemblyFormat = "attr-dict";
}

def TWG_WarpgroupWaitOp : TWG_Op<"warpgroup_wait", [
    MemoryEffects<[MemRead, MemWrite]>, RangedTypesMatchWith<"each result has its sum's type", "sums", "results", "$_self">]> {
  let summary = "waits until at most `pending` groups of products are in flight";
  let description = [{
    results[i] = sums[i], which is a finished sum if none of the last `pending` groups adds to it. A warp waits for its own
    rows: only behind a barrier is it known that no warp reads the products' shared memory any more.
  }];
  let arguments = (ins I32Attr:$pending, Variadic<AnyRankedTensor>:$sums);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$pending `,` $sums attr-dict `:` type($sums)";
}

#endif
