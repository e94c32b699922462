// ir/ProbeCallOps.td -- calls of debugging helpers that stay in compiled kernels: print_if, breakpoint_if.
// Not here:  probes that TILETWIN_CHECK puts in (ProbeOps.td), tl.device_print (DebugOps.td).
#ifndef TILETWIN_PROBE_CALL_OPS
#define TILETWIN_PROBE_CALL_OPS

include "ir/TTTypes.td"

def TT_ProbeCallOp : TT_Op<"probe_call", [MemoryEffects<[MemWrite<TT_GlobalMemory>]>]> {
  let summary = "hand values to a debugging helper if a condition holds in some lane";
  let description = [{
    If condition[i] is 1 for some i: `callee` = "print_if" hands the values and the program's id to the launch, which
    prints them in order of program id; "breakpoint_if" lets a debugger look at the program there. The first operand is
    the condition, the others are the values. `site` numbers the calls of a module; isSigned[k] = 1: value k's integers
    are signed.
    (C1) `callee` is print_if or breakpoint_if.
    (C2) the first operand is an i1 or a tile of i1.
    (C3) one entry of isSigned per value.
    Traps: none.   In a kernel: tiletwin.print_if(condition, x, y), tiletwin.breakpoint_if(condition).
  }];
  let arguments = (ins StrAttr:$callee, I32Attr:$site, DenseI32ArrayAttr:$isSigned, Variadic<TT_Value>:$args);
  let assemblyFormat = "$callee $args attr-dict `:` type($args)";
  let extraClassDeclaration = [{
    ::mlir::Value getCondition() { return getArgs().front(); }
    ::mlir::OperandRange getValues() { return getArgs().drop_front(); }
    bool isBreak() { return getCallee() == "breakpoint_if"; }
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

#endif
