// sim/isa/Compare.h -- comparisons of every type: setp, set, testp; choices by them: selp, slct (Select.cpp).
#pragma once
#include "sim/isa/Decode.h"

namespace tiletwin::sim {

extern const std::span<const OpcodeRow> kCompareOpcodes; // Compare.cpp
extern const std::span<const OpcodeRow> kSelectOpcodes;  // Select.cpp

} // namespace tiletwin::sim
