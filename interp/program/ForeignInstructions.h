// interp/program/ForeignInstructions.h -- operands of the instructions for inline assembly and for functions on elements.
#pragma once
#include "interp/asm/Asm.h"
#include "interp/program/Instructions.h"

namespace tiletwin::interp {

struct InlineAsmOp {
  AsmProgram program;
  int64_t elements = 1;
  std::vector<Off> inputs, outputs; ///< dense
  Off scratch;
};
Exec execInlineAsm; // data: InlineAsmOp

/// Elements group * pack + i of a dense tile from or to cells.
struct ElementsOp {
  Off group; ///< cell
  Off tile;
  std::vector<UniformOperand> from; ///< stores
  std::vector<Off> to;              ///< loads: cells, made canonical
  int32_t bytes = 4;
  DType type = DType::I32;
};
Exec execLoadElements; // data: ElementsOp
Exec execStoreElements;

} // namespace tiletwin::interp
