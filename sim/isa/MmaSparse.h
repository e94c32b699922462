// sim/isa/MmaSparse.h -- mma.sp, of which the rest of mma (Mma.cpp) knows the name alone.
#pragma once
#include "sim/isa/Decode.h"

namespace tiletwin::sim {

/// mma.sp and mma.sp::ordered_metadata; the word `sp` is taken.
bool decodeSparseMma(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out);

} // namespace tiletwin::sim
