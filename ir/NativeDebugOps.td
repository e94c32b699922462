// ir/NativeDebugOps.td -- notes for a native debugger: where statements begin, and what the program's names hold. Only the
// front end's debug mode emits them; they change no result.
#ifndef TILETWIN_NATIVE_DEBUG_OPS
#define TILETWIN_NATIVE_DEBUG_OPS

include "ir/TTTypes.td"

def TT_DebugLineOp : TT_Op<"debug_line", [MemoryEffects<[MemWrite<TT_GlobalMemory>]>]> {
  let summary = "a statement begins";
  let description = [{
    The operations that follow, up to the next tt.debug_line, belong to the statement at this operation's location.
    Traps: none.   In a kernel: none; TILETWIN_GDB=1 puts one before each statement.
  }];
  let assemblyFormat = "attr-dict";
}

def TT_DebugBindOp : TT_Op<"debug_bind", [MemoryEffects<[MemWrite<TT_GlobalMemory>]>,
                                          AllTypesMatch<["value", "result"]>]> {
  let summary = "a name of the program gets a value";
  let description = [{
    result = value, unless a debugger changes it: from here on the variable `name` holds the value, and what reads the
    result reads the variable. `languageType` is the type of an element as the language names it ("uint8",
    "pointer<fp32>"), which keeps the sign that the IR drops.
    Traps: none.   In a kernel: none; TILETWIN_GDB=1 puts one behind each assignment.
  }];
  let arguments = (ins StrAttr:$name, StrAttr:$languageType, TT_Value:$value);
  let results = (outs TT_Value:$result);
  let assemblyFormat = "$name `,` $languageType `,` $value attr-dict `:` type($value)";
}

def TT_DebugConstantOp : TT_Op<"debug_constant", [MemoryEffects<[MemWrite<TT_GlobalMemory>]>]> {
  let summary = "a name of the program has a compile-time value";
  let description = [{
    From here on the variable `name` shows `value`: an integer, a float or a string.
    Traps: none.   In a kernel: none; TILETWIN_GDB=1 puts one where a name gets a compile-time value.
  }];
  let arguments = (ins StrAttr:$name, StrAttr:$languageType, AnyAttr:$value);
  let assemblyFormat = "$name `,` $languageType `,` $value attr-dict";
}

#endif
