// sim/isa/CtaHooks.h -- what has to happen when lanes exit and when a CTA ends: functions for Cta::onExit and Cta::onEnd.
#pragma once
#include "sim/machine/Warp.h"

namespace tiletwin::sim {

/// Cta::onExit: barriers that waited only for these lanes complete (Barrier.cpp).
void leaveBarriers(Cta& cta, Warp& warp, LaneMask lanes);
/// Cta::onEnd: copies in groups that nobody waited for land (AsyncQueue.cpp).
void endCta(Cta& cta);

} // namespace tiletwin::sim
