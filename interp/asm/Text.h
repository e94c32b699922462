// interp/asm/Text.h -- PTX text as statements: words, numbers, placeholders, nothing looked up yet.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tiletwin::interp {

/// What stands where an instruction expects a value.
struct AsmArgument {
  enum Kind : uint8_t { Placeholder, Name, Integer, Float32, Float64, Vector, Sink, Memory } kind = Name;
  int placeholder = 0;            ///< $3
  std::string name;               ///< a register, or %special
  uint64_t bits = 0;              ///< of a number
  std::vector<AsmArgument> parts; ///< {a, b}
  bool negated = false;           ///< !p
};

struct AsmStatement {
  enum Kind : uint8_t { Instruction, Registers, Open, Close } kind = Instruction;
  int line = 1;                       ///< of the text, from 1
  std::string opcode;                 ///< "add.s32"; Registers: the type, "b32"
  std::vector<std::string> words;     ///< of the opcode, split at its dots
  std::vector<AsmArgument> arguments; ///< Registers: names
  std::optional<AsmArgument> guard;   ///< @p
  std::vector<AsmArgument> second;    ///< setp p|q: q
};

/// Whether any instruction that runs here begins with this word ("add").
bool asmKnows(std::string_view word);
/// Why instructions that begin with this word cannot run here; empty: no instruction of PTX is known to.
std::string_view asmReason(std::string_view word);
/// Splits a text. Names declared as a<4> come out as a0, a1, a2, a3. False: `error`, with its line.
bool splitAsm(std::string_view text, std::vector<AsmStatement>& statements, std::string& error);
/// "line 3 (`add.s32 $0, $1;`): " for messages.
std::string asmPlace(std::string_view text, int line);

} // namespace tiletwin::interp
