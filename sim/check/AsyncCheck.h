// sim/check/AsyncCheck.h -- asynchronous operations whose results are used before they are waited for, or whose sources change.
//
// Here:      what can be wrong with an access to memory while copies and products are on their way, and whom to name for it.
// Not here:  registers of wgmma (ProductCheck.h), what the check remembers (AsyncHistory.h), what is on its way (isa/Async.h).
// Idea:      copies and products land at the latest possible moment, so an access that comes too early finds its bytes marked. What
//            has landed is known to the thread that waited and to those that have synchronised since. What the generic proxy wrote
//            to shared memory is known to the async proxy behind a fence.proxy.async.
// Source:    "PTX ISA", NVIDIA, sections "Asynchronous operations", "Async proxy", "wgmma.mma_async".
#pragma once
#include "sim/machine/Observer.h"
#include <memory>

namespace tiletwin::sim {

struct Grid;
struct Cta;

/// Nothing can be wrong if the warp's operation reads these bytes of a CTA's shared memory in the async proxy.
bool mayAsyncRead(Warp& warp, const Cta& cta, uint64_t offset, uint64_t bytes);
/// Looks whether something is. Both only while the check looks on.
void checkAsyncRead(Warp& warp, int lane, Cta& cta, uint64_t offset, uint64_t bytes);

/// All threads of a CTA have ended, and copies are still on their way. Only while the check looks on.
void checkEnd(Cta& cta);

/// Null if no operation of the kernel is asynchronous: then nothing has to be looked at.
std::unique_ptr<Observer> makeAsyncCheck(Grid& grid);

} // namespace tiletwin::sim
