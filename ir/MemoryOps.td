// ir/MemoryOps.td -- pointer arithmetic, plain loads and stores. Atomics: AtomicOps.td; descriptors: DescriptorOps.td.
#ifndef TILETWIN_MEMORY_OPS
#define TILETWIN_MEMORY_OPS

include "ir/TTTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def TT_AddPtrOp : TT_Op<"addptr", [Pure, TT_SameShape, TypesMatchWith<"the result has the pointer's type", "result",
                                   "ptr", "$_self">]> {
  let summary = "advance pointers by a number of elements";
  let description = [{
    result = ptr + sext64(offset) * size(pointee) modulo 2^64. i1 pointees count as one byte. The address need not be
    valid: only an access traps.
    Traps: the interpreter may stop, with its own error, where the 32-bit arithmetic of an offset wrapped around between
    the offset's definition and an access.   In a kernel: ptr + offsets.
  }];
  let arguments = (ins TT_PtrLike:$ptr, TT_IntLike:$offset);
  let results = (outs TT_PtrLike:$result);
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` type($result) `,` type($offset)";
  let hasFolder = 1;
}

def TT_PtrToIntOp : TT_Op<"ptr_to_int", [Pure, TT_SameShape]> {
  let summary = "the address as an integer";
  let description = [{ result = address of src.   Traps: none.   In a kernel: ptr.to(tl.int64). }];
  let arguments = (ins TT_PtrLike:$src);
  let results = (outs TT_I64Like:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
}

def TT_IntToPtrOp : TT_Op<"int_to_ptr", [Pure, TT_SameShape]> {
  let summary = "an integer as an address";
  let description = [{
    result = pointer with address src.   Traps: none (an access may).   In a kernel: x.to(tl.pointer_type(...)).
  }];
  let arguments = (ins TT_I64Like:$src);
  let results = (outs TT_PtrLike:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
}

def TT_LoadOp : TT_Op<"load", [
    TT_SameShape, TT_MemoryAccess, AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    TypesMatchWith<"the result has the pointee's type", "ptr", "result", "::tiletwin::tt::pointeeTypeLike($_self)">,
    TypesMatchWith<"the mask is i1 of the pointer's shape", "ptr", "mask", "::tiletwin::tt::i1TypeLike($_self)",
                   "!getMask() || std::equal_to<>()">,
    TypesMatchWith<"other has the pointee's type", "ptr", "other", "::tiletwin::tt::pointeeTypeLike($_self)",
                   "!getOther() || std::equal_to<>()">]> {
  let summary = "read memory, lane by lane";
  let description = [{
    result[i] = mask[i] ? memory[ptr[i]] : other[i].
    A lane with mask 0 reads nothing and holds other[i]; without `other` it holds 0. No mask means all ones. In memory
    an i1 is one byte, 0 being false and anything else true (front ends read i8 and compare). A load whose result is
    unused may be removed unless `isVolatile`; `cachePolicy` never changes the result.
    (C1) `other` only together with `mask`.
    An address that is not a multiple of the element's size is a fault on a GPU; the interpreter reads it.
    Traps: a lane with mask 1 whose bytes are not all inside one known buffer.
    In a kernel: tl.load(ptr, mask, other).
  }];
  let arguments = (ins TT_PtrLike:$ptr, Optional<TT_I1Like>:$mask, Optional<TT_Value>:$other,
                       OptionalAttr<TT_CachePolicyAttr>:$cachePolicy,
                       DefaultValuedAttr<BoolAttr, "false">:$isVolatile);
  let results = (outs TT_Value:$result);
  let assemblyFormat = "$ptr (`,` $mask^)? (`,` $other^)? attr-dict `:` type($ptr)";
  // A volatile load has the effect of a write, which keeps it where it is.
  let extraClassDeclaration = [{ bool writes() { return false; } }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def TT_StoreOp : TT_Op<"store", [
    TT_SameShape, TT_MemoryAccess, MemoryEffects<[MemWrite<TT_GlobalMemory>]>,
    TypesMatchWith<"the value has the pointee's type", "ptr", "value", "::tiletwin::tt::pointeeTypeLike($_self)">,
    TypesMatchWith<"the mask is i1 of the pointer's shape", "ptr", "mask", "::tiletwin::tt::i1TypeLike($_self)",
                   "!getMask() || std::equal_to<>()">]> {
  let summary = "write memory, lane by lane";
  let description = [{
    memory[ptr[i]] = value[i] where mask[i]. A lane with mask 0 writes nothing. No mask means all ones. If several lanes
    name one address, one of their values is left there; the interpreter leaves that of the last lane in row-major
    order. An i1 is stored as the byte 0 or 1.
    (C1) the pointer does not point into constant memory.
    Traps: as tt.load; nothing of a trapping lane is written.   In a kernel: tl.store(ptr, value, mask).
  }];
  let arguments = (ins TT_PtrLike:$ptr, TT_Value:$value, Optional<TT_I1Like>:$mask,
                       OptionalAttr<TT_CachePolicyAttr>:$cachePolicy);
  let assemblyFormat = "$ptr `,` $value (`,` $mask^)? attr-dict `:` type($ptr)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def TT_PrefetchOp : TT_Op<"prefetch", [
    TT_SameShape, TT_MemoryAccess, MemoryEffects<[MemWrite<TT_GlobalMemory>]>,
    TypesMatchWith<"the mask is i1 of the pointer's shape", "ptr", "mask", "::tiletwin::tt::i1TypeLike($_self)",
                   "!getMask() || std::equal_to<>()">]> {
  let summary = "have memory brought near before it is read";
  let description = [{
    The GPU is asked for the cache line at ptr[i], into its L2 cache, where mask[i]. No mask means all ones. What memory
    holds stays as it is, and no program can tell whether the line came: the address need not be valid.
    (C1) the pointer does not point into constant memory.
    Traps: none.   In a kernel: tl.prefetch(ptr, mask).
  }];
  let arguments = (ins TT_PtrLike:$ptr, Optional<TT_I1Like>:$mask);
  let assemblyFormat = "$ptr (`,` $mask^)? attr-dict `:` type($ptr)";
  // The effect of a write keeps it where it is.
  let extraClassDeclaration = [{ bool writes() { return false; } }];
  let hasVerifier = 1;
}

#endif
