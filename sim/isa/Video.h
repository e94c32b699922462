// sim/isa/Video.h -- video instructions: scalars (vadd, vmad, vset, ...) and vectors of 2 or 4 (vadd2, vabsdiff4, ...).
#pragma once
#include "sim/isa/Decode.h"

namespace tiletwin::sim {

extern const std::span<const OpcodeRow> kVideoOpcodes; // Video.cpp

} // namespace tiletwin::sim
