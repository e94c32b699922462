// codegen/dialect/TWGTensorMemory.td -- sums of matrix products in tensor memory: their type, and the operations that move them
// there and back and add products to them.
#ifndef TILETWIN_TWG_TENSOR_MEMORY
#define TILETWIN_TWG_TENSOR_MEMORY

include "codegen/dialect/TWGDialect.td"
include "codegen/dialect/TWGShared.td"

def TWG_TmemType : TypeDef<TWG_Dialect, "Tmem"> {
  let mnemonic = "tmem";
  let summary = "a tile of sums in tensor memory";
  let description = [{
    `!twg.tmem<128x64xf32>`. Tensor memory has 128 lanes of 512 columns of 32 bits. Which cell an element has follows from the
    shape (codegen/layout/TensorMemory.h).
    (C1) two dimensions, powers of two: 64 rows and 8 columns at least, 16 columns for more rows; no more cells than there are
    (C2) elements are f32.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TWG_CtaRankOp : TWG_Op<"cta_rank", [Pure]> {
  let summary = "which of the two CTAs this one is, that run the program together: 0 or 1";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def TWG_PairMeetOp : TWG_Op<"pair_meet", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "all threads of both CTAs of a program wait for each other: what either has written comes before what follows";
  let assemblyFormat = "attr-dict";
}

def TWG_TmemOpenOp : TWG_Op<"tmem_open", [MemoryEffects<[MemAlloc, MemRead, MemWrite]>]> {
  let summary = "the CTA allocates tensor memory";
  let description = [{
    The result is the address of `columns` columns, the same in all threads. It waits until other CTAs of the multiprocessor
    leave so many free.
    (C1) it stands in the first block of the kernel, once   (C2) columns is a power of two from 32 to 512; a pass finds how many
    are needed.
  }];
  let arguments = (ins DefaultValuedAttr<I32Attr, "32">:$columns);
  let results = (outs I32:$result);
  let assemblyFormat = "$columns attr-dict";
  let hasVerifier = 1;
}

def TWG_TmemCloseOp : TWG_Op<"tmem_close", [MemoryEffects<[MemFree, MemRead, MemWrite]>]> {
  let summary = "the CTA gives its tensor memory back";
  let description = [{ (C1) `all` is the result of a twg.tmem_open. }];
  let arguments = (ins I32:$all);
  let assemblyFormat = "$all attr-dict";
  let hasVerifier = 1;
}

def TWG_TmemAllocOp : TWG_Op<"tmem_alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "tensor memory for a tile of sums";
  let description = [{
    Its first column is `column` behind that of `all`, which a pass assigns. It is free again after its last use.
    (C1) `all` is the result of a twg.tmem_open.
  }];
  let arguments = (ins I32:$all, OptionalAttr<I32Attr>:$column);
  let results = (outs TWG_TmemType:$result);
  let assemblyFormat = "$all attr-dict `->` type($result)";
  let hasVerifier = 1;
}

def TWG_TmemStoreOp : TWG_Op<"tmem_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "a tile to tensor memory, from registers";
  let description = [{
    dst[i] = src[i]. Products see it behind a barrier. (C1) one shape and element type   (C2) each warp has the elements of the
    lanes that it can access, each element once.
  }];
  let arguments = (ins AnyRankedTensor:$src, TWG_TmemType:$dst);
  let assemblyFormat = "$src `,` $dst attr-dict `:` type($src) `->` type($dst)";
  let hasVerifier = 1;
}

def TWG_TmemLoadOp : TWG_Op<"tmem_load", [MemoryEffects<[MemRead]>]> {
  let summary = "a tile from tensor memory";
  let description = [{
    result[i] = src[i]. (C1) one shape and element type   (C2) each warp has the elements of the lanes that it can access.
  }];
  let arguments = (ins TWG_TmemType:$src);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

def TWG_TmemDotOp : TWG_Op<"tmem_dot", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "a matrix product of tiles in shared memory, added to sums in tensor memory";
  let description = [{
    d = d + a * b, or with `overwrites` d = a * b, as tt.dot says, by `tcgen05.mma` in ascending order along K. One thread begins
    it. It is done when a twg.barrier_wait for `barrier` ends, which stands right behind it.
    With `together` both CTAs of a pair have rows of their own of a and d, and each has half of b's columns: the first CTA
    begins the product for both when both have come here, and it is done for each at a barrier of its own.
    (C1) the shapes are those of a matrix product   (C2) rows in shared memory are swizzled   (C3) K of 32-bit operands is their
    contiguous dimension.
  }];
  let arguments = (ins TWG_MemDescType:$a, TWG_MemDescType:$b, TWG_TmemType:$d, TWG_MemDescType:$barrier,
                       UnitAttr:$overwrites, UnitAttr:$together);
  let assemblyFormat = [{
    $a `,` $b `,` $d `,` $barrier (`overwrites` $overwrites^)? (`together` $together^)? attr-dict
    `:` type($a) `*` type($b) `->` type($d) `,` type($barrier)
  }];
  let hasVerifier = 1;
}

#endif
