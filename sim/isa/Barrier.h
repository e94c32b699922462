// sim/isa/Barrier.h -- barriers of a CTA (bar, barrier), of a cluster (barrier.cluster) and of a warp (bar.warp.sync).
// Not here:  mbarrier objects (Mbarrier.h).
// Source:    "PTX ISA", NVIDIA, sections "bar, barrier", "bar.warp.sync", "barrier.cluster".
#pragma once
#include "sim/isa/Decode.h"
#include <span>

namespace tiletwin::sim {

struct Cta;

/// Aligned barriers: all lanes that have not exited, in `active`.
Step gatherAtBarrier(Warp& warp, LaneMask& active);
/// barrier.cluster.arrive and .wait; Barrier.cpp has taken the word `cluster`.
bool decodeClusterBarrier(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out);
/// Cta::onExit: barriers that waited only for these lanes complete.
void leaveBarriers(Cta& cta, Warp& warp, LaneMask lanes);
/// Lanes of a warp have exited: the cluster no longer waits for them.
void leaveClusterBarrier(Warp& warp, LaneMask lanes);

} // namespace tiletwin::sim
