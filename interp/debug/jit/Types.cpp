// interp/debug/jit/Types.cpp -- see Types.h. gdb knows f16 and bf16 by the names _Float16 and __bf16; fp8 numbers are bytes
// under a name of their own, which the gdb script's printers know.
#include "interp/debug/jit/Types.h"
#include "llvm/BinaryFormat/Dwarf.h"

namespace tiletwin::interp::debug {
namespace {

struct Row {
  const char* name;
  const char* shown;
  unsigned bits, encoding;
};
constexpr Row kScalars[] = {
    {"int1", "int1", 8, llvm::dwarf::DW_ATE_boolean},
    {"int8", "int8", 8, llvm::dwarf::DW_ATE_signed},
    {"int16", "int16", 16, llvm::dwarf::DW_ATE_signed},
    {"int32", "int", 32, llvm::dwarf::DW_ATE_signed},
    {"int64", "long", 64, llvm::dwarf::DW_ATE_signed},
    {"uint8", "uint8", 8, llvm::dwarf::DW_ATE_unsigned},
    {"uint16", "uint16", 16, llvm::dwarf::DW_ATE_unsigned},
    {"uint32", "unsigned int", 32, llvm::dwarf::DW_ATE_unsigned},
    {"uint64", "unsigned long", 64, llvm::dwarf::DW_ATE_unsigned},
    {"fp16", "_Float16", 16, llvm::dwarf::DW_ATE_float},
    {"bf16", "__bf16", 16, llvm::dwarf::DW_ATE_float},
    {"fp32", "float", 32, llvm::dwarf::DW_ATE_float},
    {"fp64", "double", 64, llvm::dwarf::DW_ATE_float},
    {"str", "char", 8, llvm::dwarf::DW_ATE_signed_char},
};

} // namespace

llvm::DIType* Types::make(const std::string& name) {
  const llvm::StringRef text(name);
  for (llvm::StringRef prefix : {"pointer<", "const_pointer<"})
    if (text.starts_with(prefix))
      return builder_.createPointerType(element(text.drop_front(prefix.size()).drop_back().str()), 64);
  for (const Row& row : kScalars)
    if (text == row.name) return builder_.createBasicType(row.shown, row.bits, row.encoding);
  return builder_.createBasicType(name, 8, llvm::dwarf::DW_ATE_unsigned); // fp8e4nv, fp8e5, ...
}

llvm::DIType* Types::element(const std::string& name) {
  llvm::DIType*& known = known_[name];
  if (!known) {
    llvm::DIType* made = make(name);
    known_[name] = made; // the look-up above may have moved
    return made;
  }
  return known;
}

llvm::DIType* Types::of(const DebugVariable& variable) {
  llvm::DIType* type = element(variable.type);
  if (variable.shape.empty()) return type;
  uint64_t elements = 1;
  llvm::SmallVector<llvm::Metadata*> dims;
  for (int64_t extent : variable.shape) {
    elements *= uint64_t(extent);
    dims.push_back(builder_.getOrCreateSubrange(0, extent));
  }
  return builder_.createArrayType(elements * type->getSizeInBits(), 0, type, builder_.getOrCreateArray(dims));
}

} // namespace tiletwin::interp::debug
