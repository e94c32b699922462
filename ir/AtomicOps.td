// ir/AtomicOps.td -- atomic access to global memory.
#ifndef TILETWIN_ATOMIC_OPS
#define TILETWIN_ATOMIC_OPS

include "ir/TTTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

class TT_AtomicOp<string mnemonic, list<Trait> traits = []> : TT_Op<mnemonic, !listconcat(traits, [
    TT_MemoryAccess, TT_Atomic,
    MemoryEffects<[MemRead<TT_GlobalMemory>, MemWrite<TT_GlobalMemory>]>])>;

def TT_AtomicRMWOp : TT_AtomicOp<"atomic_rmw", [TT_SameShape]> {
  let summary = "atomically read, combine and write, lane by lane";
  let description = [{
    Where mask[i], as one step: result[i] = memory[ptr[i]], memory[ptr[i]] = kind(result[i], val[i]). A lane with mask 0
    touches nothing and its result is 0. Lanes that name one address all take effect, in any order. kinds: and, or,
    xor, add (wraps), max and min (signed), umax and umin, exch for integers; fadd and exch for floats. `sem` and
    `scope` order other accesses as in the PTX memory model.
    (C1) val and result have the pointee's type   (C2) the kind suits the element type   (C3) integers have 32 or 64
    bits (exch: also 16)   (C4) the mask is i1.
    Traps: as tt.load.   In a kernel: tl.atomic_add(ptr, val, mask, sem, scope), ...
  }];
  let arguments = (ins TT_RmwKind:$atomic_rmw_op, TT_MemSemantic:$sem, TT_MemScope:$scope, TT_PtrLike:$ptr,
                       TT_Value:$val, Optional<TT_I1Like>:$mask);
  let results = (outs TT_Value:$result);
  let assemblyFormat = [{
    $atomic_rmw_op `,` $sem `,` $scope `,` $ptr `,` $val (`,` $mask^)? attr-dict `:` functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}

def TT_AtomicCASOp : TT_AtomicOp<"atomic_cas", [TT_SameShape]> {
  let summary = "atomically compare and swap, lane by lane";
  let description = [{
    As one step: result[i] = memory[ptr[i]]; if its bits are those of cmp[i], memory[ptr[i]] = val[i].
    (C1) cmp, val and result have the pointee's type   (C2) the pointee has 16, 32 or 64 bits.
    Traps: as tt.load.   In a kernel: tl.atomic_cas(ptr, cmp, val, sem, scope).
  }];
  let arguments = (ins TT_MemSemantic:$sem, TT_MemScope:$scope, TT_PtrLike:$ptr, TT_Value:$cmp, TT_Value:$val);
  let results = (outs TT_Value:$result);
  let assemblyFormat = "$sem `,` $scope `,` $ptr `,` $cmp `,` $val attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

def TT_AtomicLoadOp : TT_AtomicOp<"atomic_load", [TT_SameShape]> {
  let summary = "atomic read, lane by lane";
  let description = [{
    result[i] = memory[ptr[i]] where mask[i], read in one step; a lane with mask 0 reads nothing and holds 0.
    (C1) the result has the pointee's type   (C2) sem is relaxed or acquire   (C3) the mask is i1.
    Traps: as tt.load.   In a kernel: tl.atomic_load(ptr, mask, sem, scope).
  }];
  let arguments = (ins TT_MemSemantic:$sem, TT_MemScope:$scope, TT_PtrLike:$ptr, Optional<TT_I1Like>:$mask);
  let results = (outs TT_Value:$result);
  let assemblyFormat = "$sem `,` $scope `,` $ptr (`,` $mask^)? attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

def TT_AtomicStoreOp : TT_AtomicOp<"atomic_store", [TT_SameShape,
    TypesMatchWith<"the value has the pointee's type", "ptr", "value", "::tiletwin::tt::pointeeTypeLike($_self)">,
    TypesMatchWith<"the mask is i1 of the pointer's shape", "ptr", "mask", "::tiletwin::tt::i1TypeLike($_self)",
                   "!getMask() || std::equal_to<>()">]> {
  let summary = "atomic write, lane by lane";
  let description = [{
    memory[ptr[i]] = value[i] where mask[i], written in one step; a lane with mask 0 writes nothing.
    (C1) sem is relaxed or release.
    Traps: as tt.load.   In a kernel: tl.atomic_store(ptr, value, mask, sem, scope).
  }];
  let arguments = (ins TT_MemSemantic:$sem, TT_MemScope:$scope, TT_PtrLike:$ptr, TT_Value:$value,
                       Optional<TT_I1Like>:$mask);
  let assemblyFormat = "$sem `,` $scope `,` $ptr `,` $value (`,` $mask^)? attr-dict `:` type($ptr)";
  let hasVerifier = 1;
}

def TT_AtomicPollOp : TT_AtomicOp<"atomic_poll", []> {
  let summary = "wait until memory holds a value";
  let description = [{
    Reads memory[ptr] atomically until it equals `expected` (result: true) or, if `timeout` is given, until so many
    nanoseconds have passed (result: false).
    (C1) ptr points to the type of expected   (C2) expected is an integer of 16, 32 or 64 bits
    (C3) sem is relaxed or acquire.
    Traps: as tt.load; a wait that no program can end is a deadlock.   In a kernel: tl.atomic_poll(ptr, expected, ...).
  }];
  let arguments = (ins TT_MemSemantic:$sem, TT_MemScope:$scope, TT_Ptr:$ptr, TT_Int:$expected, Optional<I64>:$timeout);
  let results = (outs I1:$result);
  let assemblyFormat = [{
    $sem `,` $scope `,` $ptr `,` $expected (`timeout` $timeout^)? attr-dict
    `:` qualified(type($ptr)) `,` type($expected) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif
