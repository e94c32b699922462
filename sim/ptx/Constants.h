// sim/ptx/Constants.h -- constants and constant expressions, computed while they are read.
//
// Here:      integers of 64 bits, signed or unsigned; double-precision numbers; exact numbers (0f, 0d), which take no operators.
// Not here:  how a constant becomes bits of an instruction's type (isa/Decode.h) or of a variable (ReadInitializer.cpp).
// Source:    PTX ISA, 4.5 "Constants". Where it is silent, ptxas decides: % and ~ are unsigned, a shift's distance counts
//            modulo 64, a choice (?:) has the type of the chosen side.
#pragma once
#include "sim/ptx/Lexer.h"

namespace tiletwin::sim::ptx {

struct Constant {
  enum class Kind : uint8_t { Signed, Unsigned, Real, Exact };
  Kind kind = Kind::Signed;
  uint64_t bits = 0;     ///< of an integer; of an exact number as written
  double real = 0;       ///< Real and Exact
  uint8_t exactBits = 0; ///< Exact: 32 or 64

  bool isInteger() const { return kind <= Kind::Unsigned; }
  int64_t integer() const { return int64_t(bits); }
};

/// Reads an expression up to the first token that cannot go on with it. False: the lexer has failed.
bool readConstant(Lexer& lexer, Constant& constant);
/// The same, and it must be an integer. `what` for the diagnostic: "an alignment".
bool readInteger(Lexer& lexer, std::string_view what, Constant& constant);
/// Whether a constant may begin with this token; a name does only if it is WARP_SZ.
bool startsConstant(const Token& token);
/// An integer token's value. False: more than 64 bits, or a digit that its base lacks.
bool integerValue(std::string_view text, Constant& constant);

} // namespace tiletwin::sim::ptx
