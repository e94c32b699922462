// sim/check/BarrierCheck.h -- barriers that part of a warp comes to, counts that do not agree, mbarriers that are misused.
//
// Here:      what the barriers' instructions (isa/Barrier.cpp, isa/Mbarrier.cpp) say when they come to something odd.
// Not here:  barriers that never complete: those are deadlocks (machine/TrapText.h), and isa/WaitText.h says what they miss.
// Idea:      nothing is looked at while barriers are used as they should be.
// Source:    "PTX ISA", NVIDIA, sections "bar, barrier", "mbarrier", "mbarrier.init".
#pragma once
#include "sim/isa/Async.h"
#include "sim/machine/Cta.h"

namespace tiletwin::sim {

/// Lanes of a warp have come to the aligned barrier that runs, and others of the warp have not.
void partedAtBarrier(Warp& warp, LaneMask here);
/// All lanes that live have come together at the running barrier.
void metAtBarrier(Warp& warp);
/// Lanes of a warp have exited: did others wait for them at an aligned barrier?
void leftBarrier(Cta& cta, Warp& warp, LaneMask lanes);

/// Lanes expect another number of threads than those that wait at the barrier; 0: all.
void reportCounts(Warp& warp, LaneMask lanes, uint32_t id, uint32_t threads, const Barrier& barrier);

/// Lanes have completed a phase of the barrier, and nobody waits for it: all have come with arrive.
void reportUnawaited(Warp& warp, LaneMask lanes, uint32_t id, const Barrier& barrier);

/// An mbarrier is misused: `message` is that of the trap that follows. `made`: the mbarrier.init of it, or null.
void reportMbarrier(Warp& warp, int lane, const std::string& message, const MbarrierOrigin* made);
/// A lane initialises an mbarrier that is one already.
void initialisedAgain(Warp& warp, int lane, Cta& owner, const MbarrierOrigin& made);

} // namespace tiletwin::sim
