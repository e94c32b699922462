// sim/machine/Builtin.h -- functions that PTX may call without their having a body: vprintf, __assertfail, malloc, free.
// Here:      the table's row, and what such a function sees of its arguments.
// Not here:  what they do (isa/System.cpp), how a call is decoded (machine/DecodeControl.cpp).
#pragma once
#include "sim/machine/Instruction.h"
#include <string_view>
#include <vector>

namespace tiletwin::sim {

/// Inst::data of a call of one: arguments and result as lanes of 2, 4 or 8 bytes, as the declaration gives their sizes.
struct BuiltinCall {
  std::vector<Slot> arguments;
  std::vector<uint8_t> argumentBytes;
  Slot result; ///< none if the function has no result
  uint8_t resultBytes = 0;
};

struct BuiltinRow {
  std::string_view name; ///< "vprintf"
  Execute run;
};

/// The row of a function, or null.
const BuiltinRow* findBuiltin(std::string_view name);

} // namespace tiletwin::sim
