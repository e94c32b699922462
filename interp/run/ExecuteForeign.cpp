// interp/run/ExecuteForeign.cpp -- inline assembly over tiles, and elements of tiles as scalars (tt.map_elementwise).
// Not here:  what a text does (interp/asm).
#include "interp/program/ForeignInstructions.h"
#include "interp/run/Execute.h"
#include <cstring>

namespace tiletwin::interp {

InstructionRef execInlineAsm(InstructionRef in, Frame& f) {
  const InlineAsmOp& op = *static_cast<const InlineAsmOp*>(in->data);
  auto** inputs = static_cast<const void**>(__builtin_alloca((op.inputs.size() + 1) * sizeof(void*)));
  auto** outputs = static_cast<void**>(__builtin_alloca((op.outputs.size() + 1) * sizeof(void*)));
  for (size_t i = 0; i < op.inputs.size(); ++i) inputs[i] = f.arena + op.inputs[i].v;
  for (size_t i = 0; i < op.outputs.size(); ++i) outputs[i] = f.arena + op.outputs[i].v;
  runAsm(op.program, tileOps(), op.elements, inputs, outputs, f.arena + op.scratch.v, {f.program, f.grid});
  return in + 1;
}

InstructionRef execLoadElements(InstructionRef in, Frame& f) {
  const ElementsOp& op = *static_cast<const ElementsOp*>(in->data);
  const std::byte* from = f.arena + op.tile.v + f.at<int64_t>(op.group.v) * int64_t(op.to.size()) * op.bytes;
  for (size_t i = 0; i < op.to.size(); ++i, from += op.bytes) {
    int64_t bits = 0;
    std::memcpy(&bits, from, size_t(op.bytes));
    if (isInteger(op.type) && op.type != DType::I1) {
      const int unused = 64 - 8 * op.bytes;
      bits = int64_t(uint64_t(bits) << unused) >> unused;
    }
    f.at<int64_t>(op.to[i].v) = bits;
  }
  return in + 1;
}

InstructionRef execStoreElements(InstructionRef in, Frame& f) {
  const ElementsOp& op = *static_cast<const ElementsOp*>(in->data);
  std::byte* to = f.arena + op.tile.v + f.at<int64_t>(op.group.v) * int64_t(op.from.size()) * op.bytes;
  for (const UniformOperand& value : op.from) {
    const int64_t bits = value.get(f);
    std::memcpy(to, &bits, size_t(op.bytes));
    to += op.bytes;
  }
  return in + 1;
}

} // namespace tiletwin::interp
