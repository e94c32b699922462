// sim/isa/Approx.h -- approximations: ex2 lg2 sin cos tanh rsqrt, and div, rcp and sqrt with .approx or .full.
// Not here:  what the special function unit computes (numerics/Special.h).
#pragma once
#include "sim/isa/Decode.h"

namespace tiletwin::sim {

extern const std::span<const OpcodeRow> kApproxOpcodes; // Approx.cpp

/// Of opcodes that are exact without these words (Float.cpp has their rows).
bool decodeApproximateDiv(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out);
bool decodeApproximateRcp(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out);
bool decodeApproximateSqrt(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out);

} // namespace tiletwin::sim
