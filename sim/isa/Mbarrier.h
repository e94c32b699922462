// sim/isa/Mbarrier.h -- the mbarrier instructions.
// Not here:  the object's bits (MbarrierState.h), copies that signal one (Async.h).
#pragma once
#include "sim/isa/Decode.h"
#include "sim/isa/MbarrierState.h"
#include <span>

namespace tiletwin::sim {

extern const std::span<const OpcodeRow> kMbarrierOpcodes;

/// Raises the trap for an outcome that is a mistake.
Step trapMbarrier(Warp& warp, int lane, MbarrierState::Outcome outcome, MbarrierState state, int64_t count);

} // namespace tiletwin::sim
