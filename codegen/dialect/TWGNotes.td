// codegen/dialect/TWGNotes.td -- what variables of the program hold, for a debugger of the code.
#ifndef TILETWIN_TWG_NOTES
#define TILETWIN_TWG_NOTES

include "codegen/dialect/TWGDialect.td"

def TWG_Notes : Resource<"::tiletwin::twg::Notes">;
def TWG_IsNote : NativeOpTrait<"Note"> {
  let cppNamespace = "::tiletwin::tt";
}

// It adds to the notes, and writes nothing that others might read: loads in front of it and behind it are still the same.
def TWG_NoteOp : TWG_Op<"note", [TWG_IsNote, MemoryEffects<[MemAlloc<TWG_Notes>]>]> {
  let summary = "a variable of the program gets a value";
  let description = [{
    From here on the variable `name` holds `value`, or the compile-time value `constant`; with neither nobody keeps what it
    holds. `languageType` is the type of an element as the language names it. `number` is that of the assignment, which
    copies of the operation share.
    (C1) not both.
    Traps: none.   In a kernel: none; the front end notes each assignment where a debugger waits.
  }];
  let arguments = (ins I32Attr:$number, StrAttr:$name, StrAttr:$languageType, Optional<AnyType>:$value,
                       OptionalAttr<AnyAttr>:$constant);
  let assemblyFormat = "$number `,` $name `,` $languageType (`constant` $constant^)? (`holds` $value^ `:` type($value))? attr-dict";
  let hasVerifier = 1;
}

#endif
