// codegen/emit/nvptx/MemoryOps.cpp -- accesses as inline PTX, masks as predicates.
// Invariant: every access clobbers memory for LLVM, so that none moves across another.
#include "codegen/emit/Memory.h"
#include "codegen/emit/nvptx/Nvptx.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Type;
using llvm::Value;

namespace {

const char* constraintOf(const AccessWords& words) { return words.bytes == 2 ? "h" : words.bytes == 8 ? "l" : "r"; }

std::string suffixOf(const AccessWords& words) {
  return (words.count > 1 ? ".v" + std::to_string(words.count) : std::string()) + ".b" +
         std::to_string(words.bytes * 8);
}

std::string registerList(unsigned first, unsigned count) {
  std::string text = count > 1 ? "{" : "";
  for (unsigned i = 0; i < count; ++i) text += (i ? ", $" : "$") + std::to_string(first + i);
  return text + (count > 1 ? "}" : "");
}

} // namespace

Values Nvptx::load(Emitter& e, StringRef space, Value* address, Value* predicate, ArrayRef<Value*> other,
                   const AccessWords& words) const {
  SmallVector<Type*> outputs(words.count, e.ir().getIntNTy(words.registerBits()));
  std::string constraints, text;
  for (unsigned i = 0; i < words.count; ++i) constraints += std::string("=") + constraintOf(words) + ",";
  bool isShared = space.starts_with(".shared");
  constraints += isShared ? "r" : "l";
  SmallVector<Value*> inputs{address};
  if (predicate) {
    constraints += ",b";
    inputs.push_back(predicate);
    text = "@$" + std::to_string(words.count + 1) + " ";
    for (unsigned i = 0; i < words.count; ++i)
      constraints += "," + std::to_string(i); // keeps `other` where it is not read
    llvm::append_range(inputs, other);
  }
  text += "ld" + space.str() + suffixOf(words) + " " + registerList(0, words.count) + ", [$" +
          std::to_string(words.count) + "];";
  return e.inlinePtx(text, constraints + ",~{memory}", outputs, inputs, true);
}

void Nvptx::store(Emitter& e, StringRef space, Value* address, Value* predicate, ArrayRef<Value*> values,
                  const AccessWords& words) const {
  std::string constraints = space.starts_with(".shared") ? "r" : "l", text;
  SmallVector<Value*> inputs{address};
  for (Value* value : values) {
    constraints += std::string(",") + constraintOf(words);
    inputs.push_back(value);
  }
  if (predicate) {
    constraints += ",b";
    inputs.push_back(predicate);
    text = "@$" + std::to_string(words.count + 1) + " ";
  }
  text += "st" + space.str() + suffixOf(words) + " [$0], " + registerList(1, words.count) + ";";
  e.inlinePtx(text, constraints + ",~{memory}", {}, inputs, true);
}

} // namespace tiletwin::codegen
