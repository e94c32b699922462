// sim/isa/AsyncQueue.cpp -- when copies on their way land, and what they do then.
#include "sim/check/AsyncCheck.h"
#include "sim/isa/Async.h"
#include "sim/isa/MbarrierState.h"
#include "sim/isa/TensorMemory.h"
#include "sim/isa/Wgmma.h"
#include "sim/machine/Observer.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::sim {

namespace {

using Use = SharedInFlight::Use;

bool isWatched(const Cta& cta) { return cta.async && cta.async->history; }

uint64_t offsetIn(const Cta& cta, const std::byte* shared) { return uint64_t(shared - cta.shared.data()); }

/// Marks or unmarks the words of shared memory that a copy is going to touch.
void note(const BulkCopy& copy, bool begins) {
  if (copy.bytes == 0) return;
  const auto change = [&](Cta* cta, Use use, const std::byte* at) {
    if (!cta || !isWatched(*cta)) return;
    SharedInFlight& words = asyncOf(*cta).inFlight;
    begins ? words.mark(use, offsetIn(*cta, at), copy.bytes) : words.unmark(use, offsetIn(*cta, at), copy.bytes);
  };
  change(copy.written, Use::Written, copy.to);
  if (copy.staged.empty()) change(copy.read, Use::Read, copy.from);
  Cta& issuer = *copy.origin.warp->cta;
  if (!copy.written && isWatched(issuer)) asyncOf(issuer).globalWrites += begins ? 1 : uint32_t(-1);
}

/// Tells who looks on of what a copy is going to do to shared memory.
void announce(const BulkCopy& copy, const std::byte* mbarrier) {
  Cta& cta = *copy.origin.warp->cta;
  if (copy.bytes == 0 || cta.cluster->grid->observers.empty()) return;
  const auto tell = [&](Cta* owner, AccessKind kind, const std::byte* at) {
    const AsyncUse use{owner, kind, copy.bytes, AsyncGroups::Bulk, mbarrier};
    std::array<std::byte*, kLanes> all;
    all[size_t(copy.origin.lane)] = const_cast<std::byte*>(at);
    for (Observer* observer : cta.cluster->grid->observers)
      observer->issues(cta.warps[copy.origin.warp->index], LaneMask(1) << copy.origin.lane, use, all.data());
  };
  if (copy.read && copy.staged.empty()) tell(copy.read, AccessKind::Read, copy.from);
  if (copy.written) tell(copy.written, copy.reduce ? AccessKind::Atomic : AccessKind::Write, copy.to);
}

/// Reads the source of a copy from shared memory; what comes later does not change the result.
void stage(BulkCopy& copy) {
  if (!copy.read || !copy.staged.empty()) return;
  if (isWatched(*copy.read))
    asyncOf(*copy.read).inFlight.unmark(Use::Read, offsetIn(*copy.read, copy.from), copy.bytes);
  copy.staged.assign(copy.from, copy.from + copy.bytes);
}

/// `waiter`: whose thread has waited for it; null: nobody, or an mbarrier hears of it.
void land(BulkCopy& copy, Warp* waiter) {
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
  if (copy.to)
    for (Observer* observer : copy.origin.warp->cta->cluster->grid->observers)
      observer->lands(copy.written, waiter, copy.origin.lane, *copy.origin.inst, copy.to, copy.bytes);
}

void land(LaneCopies& copies, LaneMask lanes, Cta& cta, Warp* waiter) {
  const bool watched = isWatched(cta);
  eachLane(lanes & copies.pending, [&](int lane) {
    const size_t i = size_t(lane);
    std::memcpy(copies.to[i], copies.from[i], copies.read[i]);
    std::memset(copies.to[i] + copies.read[i], 0, size_t(copies.bytes - copies.read[i]));
    if (watched) asyncOf(cta).inFlight.unmark(Use::Written, offsetIn(cta, copies.to[i]), copies.bytes);
    for (Observer* observer : cta.cluster->grid->observers)
      observer->lands(&cta, waiter, lane, *copies.origin.inst, copies.to[i], copies.bytes);
  });
  copies.pending &= ~lanes;
}

/// Lands the copies of lanes for which isDue(copies, lane) holds; `waited`: the lanes themselves have waited for them.
template <class IsDue> void landLanes(Warp& warp, LaneMask lanes, bool waited, IsDue&& isDue) {
  WarpAsync& async = asyncOf(warp);
  for (LaneCopies& copies : async.copies) {
    LaneMask due = 0;
    eachLane(copies.pending & lanes, [&](int i) { due |= LaneMask(isDue(copies, size_t(i))) << i; });
    if (due) land(copies, due, *warp.cta, waited ? &warp : nullptr);
  }
  std::erase_if(async.copies, [](const LaneCopies& copies) { return copies.pending == 0; });
}

/// Lands what has just been issued, if it is to land at once.
void landIfDue(Cluster& cluster) {
  if (cluster.turn >= cluster.nextDue) [[unlikely]]
    landDue(cluster);
}

/// What the signal does to the mbarrier.
MbarrierState::Outcome apply(MbarrierState& state, const MbarrierSignal& signal) {
  return signal.warp ? state.arrive(1) : state.completeBytes(signal.bytes);
}

bool hasLanded(const MbarrierSignal& signal) { return signal.barrier == nullptr; }

/// What the mbarrier is going to hear of happens; its state is the caller's business.
void land(MbarrierSignal& signal) {
  if (signal.isTensorWork)
    landTensorWork(*signal.warp, signal.lane, signal.upTo);
  else if (signal.warp)
    landLanes(*signal.warp, LaneMask(1) << signal.lane, false,
              [&](const LaneCopies& copies, size_t lane) { return copies.number[lane] < signal.upTo; });
  land(signal.copy, nullptr);
  signal.barrier = nullptr;
}

/// Lands before anybody waits. What the mbarrier does not take as it is now stays on its way until it is waited for.
void landAlone(Cta& owner, MbarrierSignal& signal) {
  std::byte* const barrier = owner.shared.data() + offsetIn(owner, signal.barrier);
  MbarrierState state = MbarrierState::read(barrier);
  const MbarrierState::Outcome outcome = apply(state, signal);
  if (outcome != MbarrierState::Outcome::None && outcome != MbarrierState::Outcome::PhaseEnds) {
    signal.copy.origin.due = kNeverDue;
    return;
  }
  land(signal);
  state.write(barrier);
  if (outcome == MbarrierState::Outcome::PhaseEnds)
    for (Observer* observer : owner.cluster->grid->observers) observer->phaseEnds(*owner.cluster, barrier);
}

} // namespace

bool BulkCopy::writesGlobal(uint64_t address, uint64_t accessed) const {
  if (written || bytes == 0) return false;
  const auto meets = [&](uint64_t begin, uint64_t length) {
    return address < begin + length && begin < address + accessed;
  };
  if (!tile) return meets(reinterpret_cast<uint64_t>(to), bytes);
  bool found = false;
  eachRow(*tile, [&](const TensorRow& row) {
    found |= meets(row.global, uint64_t(row.last - row.first) * tile->map.elementBytes());
  });
  return found;
}

WarpAsync& asyncOf(Warp& warp) {
  if (!warp.async) {
    warp.async = std::make_shared<WarpAsync>();
    warp.cta->onEnd = landAllGroups;
  }
  return *warp.async;
}

CtaAsync& asyncOf(Cta& cta) {
  if (!cta.async) cta.async = std::make_shared<CtaAsync>();
  return *cta.async;
}

AsyncOrigin originOf(Warp& warp, int lane) {
  return {&warp,
          lane,
          warp.at,
          ++asyncOf(*warp.cta).order,
          asyncOf(warp).proxyFence[size_t(lane)],
          dueOf(*warp.cta->cluster)};
}

uint64_t dueOf(Cluster& cluster) {
  const CopyTime copies = cluster.grid->schedule.copies;
  if (copies == CopyTime::Late) [[likely]]
    return kNeverDue;
  uint64_t due = cluster.turn;
  if (copies == CopyTime::Drawn && cluster.random) { // which a schedule that draws has
    constexpr unsigned kTurnBits = 8;
    const uint64_t drawn = cluster.random->below(4);
    if (drawn == 0) return kNeverDue;
    if (drawn > 1) due += cluster.random->ofAnySize(kTurnBits);
  }
  cluster.landDue = landDue;
  cluster.nextDue = std::min(cluster.nextDue, due);
  return due;
}

Cta* ownerOf(Cluster& cluster, const std::byte* shared) {
  for (Cta& cta : cluster.ctas)
    if (shared >= cta.shared.data() && shared < cta.shared.data() + cta.shared.size()) return &cta;
  return nullptr;
}

void issueGrouped(Warp& warp, BulkCopy copy) {
  WarpAsync& async = asyncOf(warp);
  note(copy, true);
  announce(copy, nullptr);
  const uint32_t group = async.bulkCommitted[size_t(copy.origin.lane)];
  async.bulk.push_back({std::move(copy), group});
  landIfDue(*warp.cta->cluster);
}

void issueLaneCopies(Warp& warp, const LaneCopies& copies) {
  WarpAsync& async = asyncOf(warp);
  Cta& cta = *warp.cta;
  async.copies.push_back(copies);
  LaneCopies& queued = async.copies.back();
  const bool watched = isWatched(cta);
  queued.low = ~uint64_t(0);
  eachLane(queued.pending, [&](int lane) {
    const size_t i = size_t(lane);
    queued.group[i] = async.committed[i];
    queued.number[i] = async.issued[i]++;
    if (!watched) return;
    const uint64_t offset = offsetIn(cta, queued.to[i]);
    queued.low = std::min(queued.low, offset);
    queued.high = std::max(queued.high, offset + queued.bytes);
    cta.async->inFlight.mark(Use::Written, offset, queued.bytes);
  });
  const AsyncUse use{&cta, AccessKind::Write, queued.bytes, AsyncGroups::Copies, nullptr};
  for (Observer* observer : cta.cluster->grid->observers) observer->issues(warp, queued.pending, use, queued.to.data());
  landIfDue(*cta.cluster);
}

void issueSignal(Cta& owner, MbarrierSignal signal) {
  note(signal.copy, true);
  announce(signal.copy, signal.barrier);
  asyncOf(owner).signals.push_back(std::move(signal));
  landIfDue(*owner.cluster);
}

void landLaneGroups(Warp& warp, LaneMask lanes, int64_t pending) {
  if (!warp.async) return;
  const WarpAsync& async = *warp.async;
  landLanes(warp, lanes, warp.live != 0, [&](const LaneCopies& copies, size_t i) {
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
    if (isDue(entry)) readOnly ? stage(entry.copy) : land(entry.copy, warp.live ? &warp : nullptr);
  if (!readOnly) std::erase_if(async.bulk, isDue);
}

bool landSignals(Cta& owner, std::byte* barrier) {
  if (!owner.async) return false;
  std::deque<MbarrierSignal>& signals = owner.async->signals;
  // First without effect: do all of them together, or the first so many, end the phase?
  MbarrierState state = MbarrierState::read(barrier);
  size_t count = 0;
  bool ends = false;
  for (const MbarrierSignal& signal : signals) {
    ++count;
    if (signal.barrier != barrier) continue;
    ends = apply(state, signal) == MbarrierState::Outcome::PhaseEnds;
    if (ends) break;
  }
  if (!ends) return false;
  for (size_t i = 0; i < count; ++i)
    if (signals[i].barrier == barrier) land(signals[i]);
  state.write(barrier);
  for (Observer* observer : owner.cluster->grid->observers) observer->phaseEnds(*owner.cluster, barrier);
  std::erase_if(signals, hasLanded);
  return true;
}

void landDue(Cluster& cluster) {
  uint64_t next = kNeverDue;
  const auto isDue = [&](const AsyncOrigin& origin) {
    if (origin.due <= cluster.turn) return true;
    next = std::min(next, origin.due);
    return false;
  };
  for (Cta& cta : cluster.ctas) {
    for (Warp& warp : cta.warps) {
      if (warp.products) next = std::min(next, landDueProducts(warp, cluster.turn));
      if (!warp.async) continue;
      landLanes(warp, kAllLanes, true, [&](const LaneCopies& copies, size_t) { return isDue(copies.origin); });
      std::erase_if(warp.async->bulk, [&](WarpAsync::Grouped& entry) {
        if (!isDue(entry.copy.origin)) return false;
        land(entry.copy, nullptr);
        return true;
      });
    }
    if (cta.tensor) next = std::min(next, landDueTensorWork(cta, cluster.turn));
    if (!cta.async) continue;
    std::deque<MbarrierSignal>& signals = cta.async->signals;
    for (MbarrierSignal& signal : signals)
      if (isDue(signal.copy.origin)) landAlone(cta, signal);
    std::erase_if(signals, hasLanded);
  }
  cluster.nextDue = next;
}

void landAllGroups(Cta& cta) {
  if (isWatched(cta)) checkEnd(cta);
  if (cta.tensor) endTensorMemory(cta);
  for (Warp& warp : cta.warps) {
    landLaneGroups(warp, kAllLanes, kWithOpen);
    landBulkGroups(warp, kAllLanes, kWithOpen, false);
  }
}

} // namespace tiletwin::sim
