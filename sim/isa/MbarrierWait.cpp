// sim/isa/MbarrierWait.cpp -- who waits for an mbarrier, and what its phase misses: for deadlocks and for the check of barriers.
#include "sim/check/Report.h"
#include "sim/isa/Async.h"
#include "sim/isa/Mbarrier.h"
#include "sim/isa/MbarrierState.h"
#include "sim/isa/WaitText.h"
#include <cstring>

namespace tiletwin::sim {

namespace {

/// Where a lane's mbarrier lies; null: nowhere.
const std::byte* mbarrierOf(const MbarrierForm& form, Warp& warp, int lane) {
  const uint64_t address = form.address.lanes(warp)[size_t(lane)] & ~kWindowMask;
  const uint64_t rank = address >> kSharedRankShift, offset = address & kSharedOffsetMask;
  const auto& ctas = warp.cta->cluster->ctas;
  return rank < ctas.size() && offset + 8 <= ctas[rank].shared.size() ? ctas[rank].shared.data() + offset : nullptr;
}

/// What the phase of an mbarrier misses, but for copies that are on their way.
std::string missingText(const Cta& owner, const std::byte* at, MbarrierState state) {
  int64_t bytes = state.bytes(), arrivals = state.pending();
  if (owner.async)
    for (const MbarrierSignal& signal : owner.async->signals)
      if (signal.barrier == at) signal.warp ? --arrivals : bytes -= signal.bytes;
  std::string text;
  if (arrivals) text = std::to_string(arrivals) + " of " + std::to_string(state.expected()) + " arrivals";
  if (bytes > 0)
    text += (text.empty() ? "" : " and ") + std::to_string(bytes) + " bytes that it was told of and no copy brings";
  if (!text.empty()) text = "misses " + text;
  if (bytes < 0)
    text += (text.empty() ? "" : " and ") + ("got " + std::to_string(-bytes)) + " bytes more than it was told of";
  return text;
}

} // namespace

std::string mbarrierWaitText(Warp& warp, const Fragment& fragment, const Inst* at) {
  if (!isMbarrierWait(*at)) return {};
  const std::byte* object = mbarrierOf(formOf(*at), warp, __builtin_ctz(fragment.lanes));
  if (!object) return {};
  const Cta& owner = *ownerOf(*warp.cta->cluster, object);
  const std::string name = "the mbarrier at " + placeInShared(*warp.cta, owner, uint64_t(object - owner.shared.data()));
  const std::string missing = missingText(owner, object, MbarrierState::read(object));
  return missing.empty() ? std::string() : "the phase of " + name + " " + missing;
}

bool waitsForMbarrier(Warp& warp, const std::byte* mbarrier) {
  for (const Fragment& fragment : warp.fragments->list) {
    if (!fragment.retries || !isMbarrierWait(*fragment.next)) continue;
    const RegistersOf registers(warp, fragment);
    LaneMask waiting = 0;
    eachLane(fragment.lanes, [&](int lane) {
      waiting |= LaneMask(mbarrierOf(formOf(*fragment.next), warp, lane) == mbarrier) << lane;
    });
    if (waiting) return true;
  }
  return false;
}

} // namespace tiletwin::sim
