// sim/isa/Integer.h -- integer arithmetic: add sub mul mad mul24 mad24 sad div rem abs neg min max dp4a dp2a, with carries.
// Here:      the family's table of opcodes; the parts of it that lie in files of their own.
#pragma once
#include "sim/isa/Decode.h"

namespace tiletwin::sim {

extern const std::span<const OpcodeRow> kIntegerOpcodes;  // Integer.cpp
extern const std::span<const OpcodeRow> kMultiplyOpcodes; // Multiply.cpp
extern const std::span<const OpcodeRow> kCarryOpcodes;    // Carry.cpp: addc, subc, madc

/// add.cc, sub.cc, mad.lo.cc, mad.hi.cc (Carry.cpp): "cc" is taken already, the type and the mode are not.
bool decodeAddCarry(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out);
bool decodeSubCarry(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out);
bool decodeMadCarry(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out);

} // namespace tiletwin::sim
