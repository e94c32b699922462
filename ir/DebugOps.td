// ir/DebugOps.td -- print and assert, and hints about the launch that change no result.
#ifndef TILETWIN_DEBUG_OPS
#define TILETWIN_DEBUG_OPS

include "ir/TTTypes.td"

def TT_PrintOp : TT_Op<"print", [MemoryEffects<[MemWrite<TT_GlobalMemory>]>]> {
  let summary = "print text and values";
  let description = [{
    Prints `prefix` and the operands with the program's id. isSigned[k] = 1: operand k's integers are signed; `hex`
    prints bits as hexadecimal.
    (C1) one entry of isSigned per operand.
    Traps: none.   In a kernel: tl.device_print("text", x, y, hex=False).
  }];
  let arguments = (ins StrAttr:$prefix, BoolAttr:$hex, DenseI32ArrayAttr:$isSigned, Variadic<TT_Value>:$args);
  let assemblyFormat = "$prefix attr-dict (`:` $args^ `:` type($args))?";
  let hasVerifier = 1;
}

def TT_AssertOp : TT_Op<"assert", [MemoryEffects<[MemWrite<TT_GlobalMemory>]>]> {
  let summary = "stop unless a condition holds in every lane";
  let description = [{
    Traps: if condition[i] is 0 for some i: assertion failure with `message`.
    In a kernel: tl.device_assert(condition, message), assert condition, message.
  }];
  let arguments = (ins TT_I1Like:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
  let hasCanonicalizer = 1;
}

def TT_GridDependencyWaitOp : TT_Op<"grid_dependency_wait", [
    MemoryEffects<[MemRead<TT_GlobalMemory>, MemWrite<TT_GlobalMemory>]>]> {
  let summary = "wait for the launch before this one";
  let description = [{
    Returns when all earlier launches' writes are visible.
    Traps: none.   In a kernel: tl.extra.cuda.gdc_wait().
  }];
  let assemblyFormat = "attr-dict";
}

def TT_GridDependencyLaunchDependentsOp : TT_Op<"grid_dependency_launch_dependents", [
    MemoryEffects<[MemRead<TT_GlobalMemory>, MemWrite<TT_GlobalMemory>]>]> {
  let summary = "the next launch may start";
  let description = [{ Changes no result. Traps: none.   In a kernel: tl.extra.cuda.gdc_launch_dependents(). }];
  let assemblyFormat = "attr-dict";
}

#endif
