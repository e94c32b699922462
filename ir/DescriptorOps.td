// ir/DescriptorOps.td -- blocks of tensors in global memory through a descriptor.
#ifndef TILETWIN_DESCRIPTOR_OPS
#define TILETWIN_DESCRIPTOR_OPS

include "ir/TTTypes.td"

def TT_MakeTensorDescriptorOp : TT_Op<"make_tensor_descriptor", [Pure, AttrSizedOperandSegments]> {
  let summary = "describe a strided tensor in global memory";
  let description = [{
    The element (j_0, .., j_(r-1)) lies at base + sum of j_d * strides_d elements, for 0 <= j_d < shape_d. `padding`
    says what reads outside give: 0 (1) or NaN (2).
    (C1) as many extents and strides as the block has dimensions   (C2) base points to the block's element type
    (signless)   (C3) padding with NaN needs float elements.
    Traps: none.   In a kernel: tl.make_tensor_descriptor(base, shape, strides, block_shape).
  }];
  let arguments = (ins TT_Ptr:$base, Variadic<I32>:$shape, Variadic<I64>:$strides,
                       DefaultValuedAttr<TT_Padding, "::tiletwin::tt::Padding::Zero">:$padding);
  let results = (outs TT_TensorDesc:$result);
  let assemblyFormat = "$base `,` `[` $shape `]` `,` `[` $strides `]` attr-dict `:` type($base) `,` type($result)";
  let hasVerifier = 1;
}

def TT_DescriptorLoadOp : TT_Op<"descriptor_load", [TT_MemoryAccess, MemoryEffects<[MemRead<TT_GlobalMemory>]>]> {
  let summary = "read one block";
  let description = [{
    result[i...] = tensor[indices + i...]; elements outside the tensor (below 0 too) are the descriptor's padding.
    Leading extents of 1 may be left out of the result.
    (C1) one index per dimension of the descriptor   (C2) the result is the block (leading extents of 1 may go).
    Traps: an element inside the tensor that is not in a known buffer.   In a kernel: desc.load([i, j]).
  }];
  let arguments = (ins TT_TensorDesc:$desc, Variadic<I32>:$indices, OptionalAttr<TT_CachePolicyAttr>:$cachePolicy);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$desc `[` $indices `]` attr-dict `:` qualified(type($desc)) `->` type($result)";
  let hasVerifier = 1;
}

def TT_DescriptorStoreOp : TT_Op<"descriptor_store", [TT_MemoryAccess, MemoryEffects<[MemWrite<TT_GlobalMemory>]>]> {
  let summary = "write one block";
  let description = [{
    tensor[indices + i...] = src[i...]; elements outside the tensor are dropped.
    (C1) one index per dimension of the descriptor   (C2) src is the block (leading extents of 1 may go).
    Traps: as tt.descriptor_load.   In a kernel: desc.store([i, j], value).
  }];
  let arguments = (ins TT_TensorDesc:$desc, Variadic<I32>:$indices, TT_Tile:$src);
  let assemblyFormat = "$desc `[` $indices `]` `,` $src attr-dict `:` qualified(type($desc)) `,` type($src)";
  let hasVerifier = 1;
}

def TT_DescriptorReduceOp : TT_Op<"descriptor_reduce", [
    TT_MemoryAccess, MemoryEffects<[MemRead<TT_GlobalMemory>, MemWrite<TT_GlobalMemory>]>]> {
  let summary = "combine one block into memory";
  let description = [{
    tensor[indices + i...] = kind(tensor[indices + i...], src[i...]), each element atomically (relaxed, gpu); elements
    outside the tensor are dropped. min and max follow the sign of the descriptor's element type.
    (C1) one index per dimension of the descriptor   (C2) src is the block (leading extents of 1 may go)
    (C3) and, or, xor, inc, dec need integers.
    Traps: as tt.descriptor_load.   In a kernel: desc.atomic_add([i, j], value), ...
  }];
  let arguments = (ins TT_DescriptorReduceKind:$kind, TT_TensorDesc:$desc, Variadic<I32>:$indices, TT_Tile:$src);
  let assemblyFormat = [{
    $kind `,` $desc `[` $indices `]` `,` $src attr-dict `:` qualified(type($desc)) `,` type($src)
  }];
  let extraClassDeclaration = [{ bool reads() { return false; } }];  // what memory held goes nowhere else
  let hasVerifier = 1;
}

def TT_DescriptorGatherOp : TT_Op<"descriptor_gather", [TT_MemoryAccess, MemoryEffects<[MemRead<TT_GlobalMemory>]>]> {
  let summary = "read rows by number";
  let description = [{
    result[i, j] = tensor[x_offsets[i], y_offset + j]; elements outside the tensor are the descriptor's padding.
    (C1) the descriptor's block is 1 x N   (C2) x_offsets has rank 1 and i16 or i32 elements   (C3) the result is
    (extent of x_offsets) x N of the descriptor's element type.
    Traps: as tt.descriptor_load.   In a kernel: desc.gather(rows, y).
  }];
  let arguments = (ins TT_TensorDesc:$desc, TT_IntTile:$x_offsets, I32:$y_offset);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$desc `[` $x_offsets `,` $y_offset `]` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def TT_DescriptorScatterOp : TT_Op<"descriptor_scatter", [TT_MemoryAccess, MemoryEffects<[MemWrite<TT_GlobalMemory>]>]> {
  let summary = "write rows by number";
  let description = [{
    tensor[x_offsets[i], y_offset + j] = src[i, j]; elements outside the tensor are dropped. If a row is named twice,
    one of them is left.
    (C1) the descriptor's block is 1 x N   (C2) x_offsets has rank 1 and i16 or i32 elements   (C3) src is
    (extent of x_offsets) x N of the descriptor's element type.
    Traps: as tt.descriptor_load.   In a kernel: desc.scatter(value, rows, y).
  }];
  let arguments = (ins TT_TensorDesc:$desc, TT_IntTile:$x_offsets, I32:$y_offset, TT_Tile:$src);
  let assemblyFormat = "$desc `[` $x_offsets `,` $y_offset `]` `,` $src attr-dict `:` type(operands)";
  let hasVerifier = 1;
}

#endif
