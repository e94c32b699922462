#include "sim/check/WarpOrder.h"
#include <utility>

namespace tiletwin::sim {

// ---- WarpOrder -----------------------------------------------------------------------------------------------------------------

void WarpOrder::addTo(Clock& clock, LaneMask lanes, LaneMask live) const {
  for (const Group& group : groups_)
    if (group.lanes & lanes && group.clock && !clock.covers(*group.clock)) clock.join(*group.clock);
  const bool all = !(live & ~lanes);
  clock.join(number_, all ? LaneTimes{time_, 0, 0} : LaneTimes{0, time_, lanes});
}

ClockRef WarpOrder::known(LaneMask lanes, LaneMask live) const {
  auto clock = std::make_shared<Clock>();
  addTo(*clock, lanes, live);
  return clock;
}

void WarpOrder::acquire(LaneMask lanes, const ClockRef& clock) {
  if (!clock) return;
  for (size_t i = 0, count = groups_.size(); i < count; ++i) {
    const LaneMask taking = groups_[i].lanes & lanes;
    if (!taking) continue;
    ClockRef both = joined(groups_[i].clock, clock);
    if (both == groups_[i].clock) continue;
    if (taking == groups_[i].lanes) {
      groups_[i].clock = std::move(both);
    } else {
      groups_[i].lanes &= ~taking;
      groups_.push_back({taking, std::move(both)});
    }
  }
  for (size_t i = 0; i < groups_.size(); ++i) // those that know the same now become one
    for (size_t k = groups_.size() - 1; k > i; --k)
      if (groups_[k].clock == groups_[i].clock) {
        groups_[i].lanes |= groups_[k].lanes;
        groups_.erase(groups_.begin() + ptrdiff_t(k));
      }
}

WarpOrder::Fences& WarpOrder::fences() {
  if (!fences_) fences_ = std::make_unique<Fences>();
  return *fences_;
}

void WarpOrder::fence(LaneMask lanes, bool acquires, bool releases, bool isWide) {
  if (acquires && fences_)
    for (LaneMask rest = lanes; rest; rest &= rest - 1) {
      const auto lane = size_t(__builtin_ctz(rest));
      acquire(LaneMask(1) << lane, (isWide ? fences_->foundWide : fences_->foundNarrow)[lane]);
    }
  if (!releases) return;
  Fences& all = fences();
  for (const Group& group : groups_)
    for (LaneMask rest = group.lanes & lanes; rest; rest &= rest - 1) {
      const auto lane = size_t(__builtin_ctz(rest));
      all.known[lane] = group.clock;
      all.time[lane] = time_;
    }
  all.wide = isWide ? all.wide | lanes : all.wide & ~lanes;
  tick();
}

Released WarpOrder::knownAtFence(int lane) const {
  const auto i = size_t(lane);
  if (!fences_) return {nullptr, false};
  const ClockRef& inherited = fences_->inherited[i];
  if (!fences_->time[i]) return {inherited, true};
  auto clock = fences_->known[i] ? std::make_shared<Clock>(*fences_->known[i]) : std::make_shared<Clock>();
  clock->join(number_, {0, fences_->time[i], LaneMask(1) << lane});
  if (!inherited) return {std::move(clock), (fences_->wide >> lane & 1) != 0};
  return {joined(clock, inherited), true};
}

FencedClocks WarpOrder::fenced(LaneMask lanes) const {
  FencedClocks all;
  if (!fences_) return all;
  LaneMask left = lanes; // those that have run the same fence together
  while (left) {
    const auto first = size_t(__builtin_ctz(left));
    LaneMask same = 0;
    eachLane(left, [&](int i) {
      const auto lane = size_t(i);
      if (fences_->time[lane] == fences_->time[first] && fences_->known[lane] == fences_->known[first])
        same |= LaneMask(1) << i;
    });
    left &= ~same;
    if (!fences_->time[first] || !(fences_->wide >> first & 1)) continue;
    auto clock = fences_->known[first] ? std::make_shared<Clock>(*fences_->known[first]) : std::make_shared<Clock>();
    clock->join(number_, {0, fences_->time[first], same});
    all.released = joined(all.released, clock);
  }
  eachLane(lanes, [&](int i) {
    const auto lane = size_t(i);
    all.join({fences_->inherited[lane], fences_->foundNarrow[lane], fences_->foundWide[lane]});
  });
  return all;
}

void WarpOrder::inherit(LaneMask lanes, const FencedClocks& clocks) {
  if (!clocks) return;
  foundByRelaxed(lanes, clocks.foundNarrow, clocks.foundWide);
  Fences& all = fences();
  eachLane(lanes, [&](int lane) {
    ClockRef& inherited = all.inherited[size_t(lane)];
    inherited = joined(inherited, clocks.released);
  });
}

void FencedClocks::join(const FencedClocks& other) {
  released = joined(released, other.released);
  foundNarrow = joined(foundNarrow, other.foundNarrow);
  foundWide = joined(foundWide, other.foundWide);
}

void WarpOrder::foundByRelaxed(LaneMask lanes, const ClockRef& narrow, const ClockRef& wide) {
  if (!narrow && !wide) return;
  Fences& all = fences();
  for (LaneMask rest = lanes; rest; rest &= rest - 1) {
    const auto lane = size_t(__builtin_ctz(rest));
    all.foundNarrow[lane] = joined(all.foundNarrow[lane], narrow);
    all.foundWide[lane] = joined(all.foundWide[lane], wide);
  }
}

// ---- Places --------------------------------------------------------------------------------------------------------------------

void SyncPlaces::release(uint64_t address, const Released& released, uint32_t cta) {
  if (!released.clock) return;
  Shard& shard = shardOf(address);
  const std::lock_guard lock(shard.mutex);
  Place& place = shard.places[address];
  shard.isUsed.store(true, std::memory_order_relaxed);
  if (released.isWide) place.wide = joined(place.wide, released.clock);
  if (place.narrow && place.cta != cta) place.narrow = nullptr;
  place.narrow = joined(place.narrow, released.clock);
  place.cta = cta;
}

ClockRef SyncPlaces::acquire(uint64_t address, uint32_t cta, bool isWide) {
  Shard& shard = shardOf(address);
  if (!shard.isUsed.load(std::memory_order_relaxed)) return nullptr;
  const std::lock_guard lock(shard.mutex);
  const auto at = shard.places.find(address);
  if (at == shard.places.end()) return nullptr;
  const Place& place = at->second;
  const ClockRef own = place.cta == cta ? place.narrow : nullptr;
  return isWide ? joined(own, place.wide) : own;
}

// ---- Phases --------------------------------------------------------------------------------------------------------------------

void SyncPhases::arrive(const void* object, const WarpOrder& warp, LaneMask lanes, LaneMask live) {
  Phase& phase = phases_[object];
  warp.addTo(phase.arrived, lanes, live);
  phase.fenced.join(warp.fenced(lanes));
  phase.isEmpty = false;
}

void SyncPhases::arrive(const void* object, const ClockRef& clock) {
  if (!clock) return;
  Phase& phase = phases_[object];
  phase.arrived.join(*clock);
  phase.isEmpty = false;
}

void SyncPhases::end(const void* object, bool keeps) {
  const auto at = phases_.find(object);
  if (at == phases_.end() || at->second.isEmpty) return;
  Phase& phase = at->second;
  ClockRef arrived = std::make_shared<Clock>(std::move(phase.arrived));
  if (!keeps) phase.ended = {};
  phase.ended.clock = joined(phase.ended.clock, arrived);
  phase.ended.fenced.join(phase.fenced);
  phase.arrived = {};
  phase.fenced = {};
  phase.isEmpty = true;
}

SyncPhases::Ended SyncPhases::ended(const void* object) const {
  const auto at = phases_.find(object);
  return at == phases_.end() ? Ended() : at->second.ended;
}

} // namespace tiletwin::sim
