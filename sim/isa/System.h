// sim/isa/System.h -- fences, and instructions about the machine itself: nanosleep, setmaxnreg, griddepcontrol, mapa, getctarank.
// Not here:  functions that kernels call without their having a body (machine/Builtin.h).
#pragma once
#include "sim/isa/Decode.h"
#include "sim/machine/Memory.h"
#include <span>

namespace tiletwin::sim {

extern const std::span<const OpcodeRow> kFenceOpcodes;     // Fence.cpp
extern const std::span<const OpcodeRow> kSystemOpcodes;    // System.cpp
extern const std::span<const OpcodeRow> kTensormapOpcodes; // Tensormap.cpp

/// .cta, .cluster, .gpu or .sys; false if none is there.
bool takeScope(Words& words, Scope& scope);

} // namespace tiletwin::sim
