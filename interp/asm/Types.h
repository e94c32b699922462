// interp/asm/Types.h -- the types that opcodes and declarations of registers name.
// Not here:  which instruction takes which types (Instructions.cpp, Lanes*.cpp).
#pragma once
#include "runtime/DType.h"
#include <cstdint>
#include <string_view>

namespace tiletwin::interp {

struct AsmType {
  enum Kind : uint8_t { Predicate, Bits, Unsigned, Signed, Float };
  const char* name;
  Kind kind;
  DType type;
  uint8_t perLane = 1;    ///< elements in a register
  bool declarable = true; ///< as the type of a register
  int bytes() const { return int(sizeOf(type)) * perLane; }
};
/// Null: no such type.
const AsmType* findAsmType(std::string_view name);

} // namespace tiletwin::interp
