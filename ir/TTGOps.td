// ir/TTGOps.td -- the dialect ttg: what a kernel says about its program's threads.
#ifndef TILETWIN_TTG_OPS
#define TILETWIN_TTG_OPS

include "ir/TTDialect.td"
include "mlir/IR/EnumAttr.td"

def TTG_BarrierScope : I32EnumAttr<"BarrierScope", "which memory a barrier orders", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Local", 1, "local">,
    I32EnumAttrCase<"GlobalRead", 2, "global_read">, I32EnumAttrCase<"GlobalWrite", 4, "global_write">,
    I32EnumAttrCase<"All", 31, "all">]> {
  let cppNamespace = "::tiletwin::ttg";
}

def TTG_BarrierOp : Op<TTG_Dialect, "barrier", [
    MemoryEffects<[MemRead<TT_GlobalMemory>, MemWrite<TT_GlobalMemory>]>]> {
  let summary = "all threads of the program wait for each other";
  let description = [{
    Writes before it are seen by reads after it, in the whole program. Where a program's operations run one after the
    other, as in the interpreter, nothing needs to be done. Traps: none.   In a kernel: tl.debug_barrier().
  }];
  let arguments = (ins TTG_BarrierScope:$addrSpace);
  let assemblyFormat = "$addrSpace attr-dict";
}

#endif
