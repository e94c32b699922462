// codegen/dialect/TWGTensorCopy.td -- blocks of tensors copied by the tensor memory accelerator (TMA), and the barriers in shared
// memory that count what has arrived.
#ifndef TILETWIN_TWG_TENSOR_COPY
#define TILETWIN_TWG_TENSOR_COPY

include "codegen/dialect/TWGDialect.td"
include "codegen/dialect/TWGShared.td"

def TWG_TensorMapAttr : AttrDef<TWG_Dialect, "TensorMap"> {
  let mnemonic = "tensor_map";
  let summary = "how the host makes the tensor map of an argument";
  let description = [{
    `#twg.tensor_map<element = float16, box = [64, 64], swizzle = 128>` on an argument that is a tensor descriptor: the
    kernel takes the 128 bytes of a tensor map by value (passes/TensorMaps.h). `box` has the elements of one copy along
    the tensor's dimensions, `swizzle` is that of the block in shared memory, `element` the map's element type.
  }];
  let parameters = (ins "::mlir::StringAttr":$element, ArrayRefParameter<"int64_t">:$box, "unsigned":$swizzle);
  let assemblyFormat = "`<` `element` `=` $element `,` `box` `=` `[` $box `]` `,` `swizzle` `=` $swizzle `>`";
}

def TWG_MemDescViewOp : TWG_Op<"memdesc_view", [Pure]> {
  let summary = "the same bytes of shared memory, read as another tile";
  let description = [{
    A transposed matrix, for one: dimensions change places, and with them the one that is contiguous.
    (C1) source and result have the same number of elements of one type.
  }];
  let arguments = (ins TWG_MemDescType:$src);
  let results = (outs TWG_MemDescType:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

def TWG_BarrierInitOp : TWG_Op<"barrier_init", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "makes barriers of shared memory, each of which waits for so many arrivals";
  let description = [{ All threads see them behind a barrier. (C1) the memory has 64-bit elements, one a barrier. }];
  let arguments = (ins TWG_MemDescType:$barriers, DefaultValuedAttr<I32Attr, "1">:$arrivals);
  let assemblyFormat = "$barriers (`arrivals` $arrivals^)? attr-dict `:` type($barriers)";
}

def TWG_BarrierArriveOp : TWG_Op<"barrier_arrive", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "each warp, or a producer's thread, arrives at a barrier: it is done with what the barrier guards";
  let description = [{ What a warp has read before is read when the barrier's phase ends. Nothing if `enabled` is false. }];
  let arguments = (ins TWG_MemDescType:$barrier, Optional<I1>:$enabled);
  let assemblyFormat = "$barrier (`if` $enabled^)? attr-dict `:` type($barrier)";
}

def TWG_BarrierExpectOp : TWG_Op<"barrier_expect", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "arrives at a barrier, whose phase ends when so many bytes have arrived too";
  let description = [{ Nothing if `enabled` is false. }];
  let arguments = (ins TWG_MemDescType:$barrier, I32Attr:$bytes, Optional<I1>:$enabled);
  let assemblyFormat = "$barrier `,` $bytes (`if` $enabled^)? attr-dict `:` type($barrier)";
}

def TWG_BarrierWaitOp : TWG_Op<"barrier_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until the barrier's phase has ended";
  let description = [{
    Threads then see what arrived, with plain loads and with warpgroup dots. Each wait is for the phase behind that of
    the wait before it: every phase is waited for once, by all threads. `phase` is its number modulo 2: 0 for a barrier's
    first wait. A pass derives it (passes/Phases.h). `free`: what the barrier guards is free at first, so the first wait ends
    at once, the second waits for the first phase, and `phase` is 1 for the first one.
  }];
  let arguments = (ins TWG_MemDescType:$barrier, Optional<I32>:$phase, UnitAttr:$free);
  let assemblyFormat = "$barrier (`free` $free^)? (`phase` $phase^)? attr-dict `:` type($barrier)";
}

def TWG_PhaseOp : TWG_Op<"phase", [Pure]> {
  let summary = "the phase that a barrier is in";
  let description = [{
    result = phases >> index & 1: a word has a bit for each barrier of an allocation; without an index there is one.
    (C1) 0 <= index < 32.
  }];
  let arguments = (ins I32:$phases, Optional<I32>:$index);
  let results = (outs I32:$result);
  let assemblyFormat = "$phases (`[` $index^ `]`)? attr-dict";
}

def TWG_NextPhaseOp : TWG_Op<"next_phase", [Pure]> {
  let summary = "the phases when one barrier's has ended";
  let description = [{ result = phases ^ 1 << index; without an index phases ^ 1. (C1) 0 <= index < 32. }];
  let arguments = (ins I32:$phases, Optional<I32>:$index);
  let results = (outs I32:$result);
  let assemblyFormat = "$phases (`[` $index^ `]`)? attr-dict";
}

def TWG_ProxyBarrierOp : TWG_Op<"proxy_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "all threads wait for each other, and copies begun afterwards see what they wrote";
  let description = [{ To shared memory; `global`: to global memory too. }];
  let arguments = (ins UnitAttr:$global);
  let assemblyFormat = "(`global` $global^)? attr-dict";
}

def TWG_TensorLoadOp : TWG_Op<"tensor_load", [MemoryEffects<[MemRead, MemWrite]>, AttrSizedOperandSegments]> {
  let summary = "begins to copy a block of a tensor to shared memory";
  let description = [{
    dst[i...] = tensor[indices + i...], outside of the tensor its padding, done when a wait for `barrier` ends. Nothing if
    `enabled` is false. `turn`, if it is not negative: a block of both CTAs of a pair, each box of which is copied by one of them, to
    both. Box j by that in which `turn` is j modulo 2: the other one has the same indices, and 1 - turn.
    (C1) `desc` is an argument with a tensor map   (C2) dst has the block's bytes, rows along the last dimension.
  }];
  let arguments = (ins AnyType:$desc, Variadic<I32>:$indices, TWG_MemDescType:$dst, TWG_MemDescType:$barrier,
                       Optional<I1>:$enabled, Optional<I32>:$turn);
  let assemblyFormat = [{
    $desc `[` $indices `]` `,` $dst `,` $barrier (`if` $enabled^)? (`turn` $turn^)? attr-dict
    `:` qualified(type($desc)) `,` type($dst) `,` type($barrier)
  }];
}

def TWG_PairArriveOp : TWG_Op<"pair_arrive", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "a producer arrives at this barrier, and at that in the other CTA of the pair: that one may copy to a slot of this one";
  let description = [{ The slot is free, and its own barrier expects what will come. A wait for the barrier stands behind it. }];
  let arguments = (ins TWG_MemDescType:$barrier);
  let assemblyFormat = "$barrier attr-dict `:` type($barrier)";
}

def TWG_TensorStoreOp : TWG_Op<"tensor_store", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "begins to copy a block from shared memory to a tensor, or to combine it into one";
  let description = [{
    tensor[indices + i...] = src[i...], or with `reduce` ("add", "min", ...) combined with what is there, each element
    atomically; elements outside of the tensor are dropped. It is begun by one thread, in which `issuer` is true, and done
    when a twg.tensor_wait says so.
    (C1) `desc` is an argument with a tensor map   (C2) src has the block's bytes, rows along the last dimension.
  }];
  let arguments = (ins AnyType:$desc, Variadic<I32>:$indices, TWG_MemDescType:$src, OptionalAttr<StrAttr>:$reduce);
  let results = (outs I1:$issuer);
  let assemblyFormat = [{
    $desc `[` $indices `]` `,` $src (`reduce` $reduce^)? attr-dict `:` qualified(type($desc)) `,` type($src)
  }];
}

def TWG_TensorCommitOp : TWG_Op<"tensor_commit", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the stores to tensors that the issuer has begun since its last commit are a group";
  let arguments = (ins I1:$issuer);
  let assemblyFormat = "$issuer attr-dict";
}

def TWG_TensorWaitOp : TWG_Op<"tensor_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the issuer waits until at most `pending` groups of stores are on their way";
  let description = [{
    The others are written, and read from shared memory. Other threads know it behind a barrier. Without `issuer` it is the
    thread that issues all stores.
  }];
  let arguments = (ins I32Attr:$pending, Optional<I1>:$issuer);
  let assemblyFormat = "$pending (`,` $issuer^)? attr-dict";
}

def TWG_ProducerOp : TWG_Op<"producer", [SingleBlockImplicitTerminator<"ProducerEndOp">]> {
  let summary = "warps of their own do this while the program's warps go on";
  let description = [{
    `twg.producer 4 registers [24, 232] { ... }`: the CTA has so many warps behind those of the program. They run the
    region, one thread of them all of it, and end. Those of the program go on behind the operation, and from there on
    barriers are theirs alone. `registers`: that a thread of the producer keeps, and one of the program then has.
    (C1) it stands in the first block of the kernel, once   (C2) inside are scalars, control flow, waits for and arrivals at
    barriers in shared memory, and copies of blocks to it   (C3) warps is a multiple of 4, a warp group
    (C4) registers are multiples of 8 from 24 to 256.
  }];
  let arguments = (ins I32Attr:$warps, OptionalAttr<DenseI32ArrayAttr>:$registers);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$warps (`registers` $registers^)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def TWG_ProducerEndOp : TWG_Op<"producer_end", [Terminator, HasParent<"ProducerOp">]> {
  let summary = "the end of what a producer does";
  let assemblyFormat = "attr-dict";
}

#endif
