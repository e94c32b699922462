// codegen/dialect/TWGTurns.td -- two groups of warps that take turns.
#ifndef TILETWIN_TWG_TURNS
#define TILETWIN_TWG_TURNS

include "codegen/dialect/TWGDialect.td"

def TWG_TurnWaitOp : TWG_Op<"turn_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "a group of warps waits for its turn";
  let description = [{
    The program's warps are two groups of the same size, 0 and 1; 0 has the lower numbers. Each waits until the other one
    has passed the turn on, once for each of its waits. This orders nothing in memory.
  }];
  let assemblyFormat = "attr-dict";
}

def TWG_TurnPassOp : TWG_Op<"turn_pass", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "a group of warps gives the other one its turn";
  let description = [{
    A group goes on at once. `by`: this group alone does it; none: each does it where it is. (C1) by is 0 or 1.
  }];
  let arguments = (ins OptionalAttr<I32Attr>:$by);
  let assemblyFormat = "(`by` $by^)? attr-dict";
  let hasVerifier = 1;
}

#endif
