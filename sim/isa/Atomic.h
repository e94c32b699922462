// sim/isa/Atomic.h -- atom and red: operations on memory that other threads see as one step.
#pragma once
#include "sim/isa/Decode.h"

namespace tiletwin::sim {

extern const std::span<const OpcodeRow> kAtomicOpcodes; // Atomic.cpp

} // namespace tiletwin::sim
