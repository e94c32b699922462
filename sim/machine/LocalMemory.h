// sim/machine/LocalMemory.h -- local memory of threads: variables of the running calls, one above the other.
#pragma once
#include "sim/machine/Cta.h"
#include "sim/machine/Fragments.h"

namespace tiletwin::sim {

/// Bytes of local memory one thread can have, as on a GPU.
inline constexpr uint64_t kLocalLimit = 512 * 1024;

/// Byte `offset` of the running call's local memory, for one lane. It holds until the next call.
inline std::byte* localMemory(Warp& warp, int lane, uint32_t offset) {
  const uint64_t thread = warp.index * uint64_t(kLanes) + uint64_t(lane);
  return warp.cta->local.data() + thread * warp.cta->localBytes + warp.running->frame->localBase + offset;
}

/// Makes room for `bytes` of each thread of a CTA; false: that is more than there can be.
bool growLocalMemory(Cta& cta, uint64_t bytes);

} // namespace tiletwin::sim
