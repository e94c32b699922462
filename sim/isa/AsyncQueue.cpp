// sim/isa/AsyncQueue.cpp -- when copies on their way land, and what they do then.
#include "sim/isa/Async.h"
#include "sim/isa/CtaHooks.h"
#include "sim/isa/MbarrierState.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::sim {

namespace {

using Use = SharedInFlight::Use;

bool isWatched(const Cta& cta) { return cta.cluster->grid->params->checks.async; }

uint64_t offsetIn(const Cta& cta, const std::byte* shared) { return uint64_t(shared - cta.shared.data()); }

/// Marks or unmarks the words of shared memory that a copy is going to touch.
void note(const BulkCopy& copy, bool begins) {
  const auto change = [&](Cta* cta, Use use, const std::byte* at) {
    if (!cta || !isWatched(*cta)) return;
    SharedInFlight& words = asyncOf(*cta).inFlight;
    begins ? words.mark(use, offsetIn(*cta, at), copy.bytes) : words.unmark(use, offsetIn(*cta, at), copy.bytes);
  };
  change(copy.written, Use::Written, copy.to);
  if (copy.staged.empty()) change(copy.read, Use::Read, copy.from);
}

/// Reads the source of a copy from shared memory; what comes later does not change the result.
void stage(BulkCopy& copy) {
  if (!copy.read || !copy.staged.empty()) return;
  if (isWatched(*copy.read))
    asyncOf(*copy.read).inFlight.unmark(Use::Read, offsetIn(*copy.read, copy.from), copy.bytes);
  copy.staged.assign(copy.from, copy.from + copy.bytes);
}

void land(BulkCopy& copy) {
  if (copy.bytes == 0) return;
  note(copy, false);
  const std::byte* from = copy.staged.empty() ? copy.from : copy.staged.data();
  if (copy.tile) {
    if (copy.written) {
      loadTile(*copy.tile, copy.to, offsetIn(*copy.written, copy.to));
    } else {
      storeTile(*copy.tile, from, offsetIn(*copy.read, copy.from), copy.reduce);
    }
  } else if (copy.reduce) {
    copy.reduce(copy.to, from, copy.bytes / copy.elementBytes);
  } else {
    std::memmove(copy.to, from, copy.bytes);
  }
}

void land(LaneCopies& copies, LaneMask lanes, Cta& cta) {
  const bool watched = isWatched(cta);
  eachLane(lanes & copies.pending, [&](int lane) {
    const size_t i = size_t(lane);
    std::memcpy(copies.to[i], copies.from[i], copies.read[i]);
    std::memset(copies.to[i] + copies.read[i], 0, size_t(copies.bytes - copies.read[i]));
    if (watched) asyncOf(cta).inFlight.unmark(Use::Written, offsetIn(cta, copies.to[i]), copies.bytes);
  });
  copies.pending &= ~lanes;
}

/// Lands the copies of lanes for which isDue(copies, lane) holds.
template <class IsDue> void landLanes(Warp& warp, LaneMask lanes, IsDue&& isDue) {
  WarpAsync& async = asyncOf(warp);
  for (LaneCopies& copies : async.copies) {
    LaneMask due = 0;
    eachLane(copies.pending & lanes, [&](int i) { due |= LaneMask(isDue(copies, size_t(i))) << i; });
    if (due) land(copies, due, *warp.cta);
  }
  std::erase_if(async.copies, [](const LaneCopies& copies) { return copies.pending == 0; });
}

MbarrierState stateOf(const std::byte* barrier) {
  uint64_t bits;
  std::memcpy(&bits, barrier, sizeof bits);
  return MbarrierState(bits);
}

/// What the signal does to the mbarrier.
MbarrierState::Outcome apply(MbarrierState& state, const MbarrierSignal& signal) {
  return signal.warp ? state.arrive(1) : state.completeBytes(signal.bytes);
}

} // namespace

bool SharedInFlight::any(Use use, uint64_t offset, uint64_t bytes) const {
  const std::vector<int16_t>& words = words_[size_t(use)];
  const uint64_t end = std::min<uint64_t>((offset + bytes + kWord - 1) / kWord, words.size());
  for (uint64_t i = offset / kWord; i < end; ++i)
    if (words[i]) return true;
  return false;
}

void SharedInFlight::change(Use use, uint64_t offset, uint64_t bytes, int by) {
  std::vector<int16_t>& words = words_[size_t(use)];
  const uint64_t end = (offset + bytes + kWord - 1) / kWord;
  if (end > words.size()) words.resize(end);
  for (uint64_t i = offset / kWord; i < end; ++i) words[i] = int16_t(words[i] + by);
}

WarpAsync& asyncOf(Warp& warp) {
  if (!warp.async) {
    warp.async = std::make_shared<WarpAsync>();
    warp.cta->onEnd = endCta;
  }
  return *warp.async;
}

CtaAsync& asyncOf(Cta& cta) {
  if (!cta.async) cta.async = std::make_shared<CtaAsync>();
  return *cta.async;
}

AsyncOrigin originOf(Warp& warp, int lane) {
  return {&warp, lane, warp.at, ++asyncOf(*warp.cta).order, asyncOf(warp).proxyFence[size_t(lane)]};
}

Cta* ownerOf(Cluster& cluster, const std::byte* shared) {
  for (Cta& cta : cluster.ctas)
    if (shared >= cta.shared.data() && shared < cta.shared.data() + cta.shared.size()) return &cta;
  return nullptr;
}

void issueGrouped(Warp& warp, BulkCopy copy) {
  WarpAsync& async = asyncOf(warp);
  note(copy, true);
  const uint32_t group = async.bulkCommitted[size_t(copy.origin.lane)];
  async.bulk.push_back({std::move(copy), group});
}

void issueLaneCopies(Warp& warp, const LaneCopies& copies) {
  WarpAsync& async = asyncOf(warp);
  Cta& cta = *warp.cta;
  async.copies.push_back(copies);
  LaneCopies& queued = async.copies.back();
  const bool watched = isWatched(cta);
  eachLane(queued.pending, [&](int lane) {
    const size_t i = size_t(lane);
    queued.group[i] = async.committed[i];
    queued.number[i] = async.issued[i]++;
    if (watched) asyncOf(cta).inFlight.mark(Use::Written, offsetIn(cta, queued.to[i]), queued.bytes);
  });
}

void issueSignal(Cta& owner, MbarrierSignal signal) {
  if (signal.copy.bytes) note(signal.copy, true);
  asyncOf(owner).signals.push_back(std::move(signal));
}

void landLaneGroups(Warp& warp, LaneMask lanes, int64_t pending) {
  if (!warp.async) return;
  const WarpAsync& async = *warp.async;
  landLanes(warp, lanes, [&](const LaneCopies& copies, size_t i) {
    return pending == kWithOpen || int64_t(copies.group[i]) + pending < int64_t(async.committed[i]);
  });
}

void landBulkGroups(Warp& warp, LaneMask lanes, int64_t pending, bool readOnly) {
  if (!warp.async) return;
  WarpAsync& async = *warp.async;
  const auto isDue = [&](const WarpAsync::Grouped& entry) {
    const int lane = entry.copy.origin.lane;
    return (lanes >> lane & 1) != 0 &&
           (pending == kWithOpen || int64_t(entry.group) + pending < int64_t(async.bulkCommitted[size_t(lane)]));
  };
  for (WarpAsync::Grouped& entry : async.bulk)
    if (isDue(entry)) readOnly ? stage(entry.copy) : land(entry.copy);
  if (!readOnly) std::erase_if(async.bulk, isDue);
}

bool landSignals(Cta& owner, std::byte* barrier) {
  if (!owner.async) return false;
  std::deque<MbarrierSignal>& signals = owner.async->signals;
  // First without effect: do all of them together, or the first so many, end the phase?
  MbarrierState state = stateOf(barrier);
  size_t count = 0;
  bool ends = false;
  for (const MbarrierSignal& signal : signals) {
    ++count;
    if (signal.barrier != barrier) continue;
    ends = apply(state, signal) == MbarrierState::Outcome::PhaseEnds;
    if (ends) break;
  }
  if (!ends) return false;
  for (size_t i = 0; i < count; ++i) {
    MbarrierSignal& signal = signals[i];
    if (signal.barrier != barrier) continue;
    if (signal.warp)
      landLanes(*signal.warp, LaneMask(1) << signal.lane,
                [&](const LaneCopies& copies, size_t lane) { return copies.number[lane] < signal.upTo; });
    land(signal.copy);
    signal.barrier = nullptr;
  }
  const uint64_t bits = state.bits();
  std::memcpy(barrier, &bits, sizeof bits);
  std::erase_if(signals, [](const MbarrierSignal& signal) { return signal.barrier == nullptr; });
  return true;
}

void endCta(Cta& cta) { landAllGroups(cta); }

void landAllGroups(Cta& cta) {
  for (Warp& warp : cta.warps) {
    landLaneGroups(warp, kAllLanes, kWithOpen);
    landBulkGroups(warp, kAllLanes, kWithOpen, false);
  }
}

} // namespace tiletwin::sim
