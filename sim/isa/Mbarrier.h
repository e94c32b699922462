// sim/isa/Mbarrier.h -- the mbarrier instructions.
// Not here:  the object's bits (MbarrierState.h), copies that signal one (Async.h).
#pragma once
#include "sim/isa/Decode.h"
#include "sim/isa/MbarrierState.h"
#include <span>

namespace tiletwin::sim {

struct Cta;

/// Raises the trap for an outcome that is a mistake, of a lane at an mbarrier in shared memory of `owner`. Returns false.
bool trapMbarrier(Warp& warp, int lane, Cta* owner, const std::byte* at, MbarrierState::Outcome outcome,
                  MbarrierState state, int64_t count);

} // namespace tiletwin::sim
