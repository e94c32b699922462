// sim/check/RaceSync.cpp -- the check of races: what makes one access come before another.
#include "sim/check/RaceState.h"
#include <cstring>

namespace tiletwin::sim {

void RaceCheck::begins(Cta& cta) {
  Cluster& cluster = *cta.cluster;
  if (cluster.races) return;
  cluster.races = std::make_shared<ClusterRaces>();
  ClusterRaces& races = *cluster.races;
  races.shared.resize(cluster.ctas.size());
  races.warps.reserve(cluster.ctas.size() * warpsOfCta_);
  if (cluster.grid->program->hasAsync)
    races.async = std::make_unique<AsyncOrder>(cluster, warpsOfCta_, layout_.latest());
  for (uint64_t rank = 0; rank < cluster.ctas.size(); ++rank) {
    const uint64_t ctaNumber = cluster.linear * cluster.ctas.size() + rank;
    for (uint64_t i = 0; i < warpsOfCta_; ++i)
      races.warps.push_back(
          {WarpOrder(uint32_t(ctaNumber * warpsOfCta_ + i), uint32_t(ctaNumber), layout_.latest()), {}, 0});
  }
}

void RaceCheck::settle(ClusterRaces& cluster) const {
  for (const PendingWrite& write : cluster.writes)
    if (std::memcmp(write.race.host, write.before.data(), write.bytes) != 0)
      reportRace(places_, cluster.seen, write.race);
  cluster.writes.clear();
}

WarpRaces& RaceCheck::settled(Warp& warp) {
  WarpRaces& races = racesOf(warp);
  if (ClusterRaces& cluster = *warp.cta->cluster->races; !cluster.writes.empty()) settle(cluster);
  PendingReads& pending = races.pending;
  while (pending.lanes) {
    const int first = __builtin_ctz(pending.lanes);
    const bool isShared = pending.shared >> first & 1;
    LaneMask same = 0;
    eachLane(pending.lanes, [&](int i) { same |= LaneMask(pending.host[i] == pending.host[first]) << i; });
    pending.lanes &= ~same;
    SyncPlaces& places = syncPlaces(*warp.cta->cluster->races, isShared);
    const ClockRef found = places.acquire(pending.host[first], races.order.cta(), pending.isWide);
    if (pending.acquires)
      races.order.acquire(same, found);
    else if (found)
      races.order.foundByRelaxed(same, places.acquire(pending.host[first], races.order.cta(), false), found);
  }
  return races;
}

/// What a strong access hands on, and that it will have to be asked what it has read.
void RaceCheck::synchronise(const Accessing& now, const uint64_t* addresses) {
  const Access& access = now.access;
  WarpOrder& order = now.own.order;
  const bool wide = isWide(access.scope);
  LaneMask shared = 0;
  eachLane(now.active, [&](int lane) {
    const bool is = access.space == Space::Shared ||
                    (access.space == Space::None && (addresses[lane] & kWindowMask) == kSharedWindow);
    shared |= LaneMask(is) << lane;
  });
  if (now.writes) {
    const bool releases = access.semantics == Semantics::Release || access.semantics == Semantics::AcquireRelease;
    for (LaneMask rest = now.active; rest;) {
      const int first = __builtin_ctz(rest);
      LaneMask same = LaneMask(1) << first;
      if (releases) eachLane(rest, [&](int i) { same |= LaneMask(now.host[i] == now.host[first]) << i; });
      rest &= ~same;
      Released released{nullptr, wide};
      if (releases) {
        released.clock = order.known(same, now.warp.live);
      } else {
        released = order.knownAtFence(first);
        released.isWide &= wide;
      }
      syncPlaces(now.cluster, shared >> first & 1)
          .release(reinterpret_cast<uint64_t>(now.host[first]), released, order.cta());
    }
    if (releases) order.tick();
  }
  if (access.kind == AccessKind::Write) return;
  PendingReads& pending = now.own.pending;
  pending.lanes = now.active;
  pending.shared = shared;
  pending.isWide = wide;
  pending.acquires = access.semantics == Semantics::Acquire || access.semantics == Semantics::AcquireRelease;
  eachLane(now.active, [&](int lane) { pending.host[lane] = reinterpret_cast<uint64_t>(now.host[lane]); });
}

void RaceCheck::arrives(Warp& warp, LaneMask lanes, const void* object, Semantics semantics) {
  WarpOrder& order = settled(warp).order;
  SyncPhases& phases = warp.cta->cluster->races->phases;
  if (semantics == Semantics::Relaxed) {
    eachLane(lanes, [&](int lane) { phases.arrive(object, order.knownAtFence(lane).clock); });
    return;
  }
  phases.arrive(object, order, lanes, warp.live);
  order.tick();
}

void RaceCheck::phaseEnds(Cluster& cluster, const void* object) {
  const auto* at = static_cast<const std::byte*>(object);
  bool isMbarrier = false;
  for (const Cta& cta : cluster.ctas)
    isMbarrier |= at >= cta.shared.data() && at < cta.shared.data() + cta.shared.size();
  if (isMbarrier) endsForAgent(*cluster.races, object);
  cluster.races->phases.end(object, isMbarrier);
}

void RaceCheck::waited(Warp& warp, LaneMask lanes, const void* object, Semantics semantics) {
  WarpOrder& order = settled(warp).order;
  const SyncPhases::Ended ended = warp.cta->cluster->races->phases.ended(object);
  if (semantics == Semantics::Relaxed) {
    order.foundByRelaxed(lanes, ended.clock, ended.clock);
  } else {
    order.acquire(lanes, ended.clock);
    order.inherit(lanes, ended.fenced);
  }
}

void RaceCheck::meets(Warp& warp, LaneMask lanes) {
  WarpOrder& order = settled(warp).order;
  order.acquire(lanes, order.known(lanes, warp.live));
  order.inherit(lanes, order.fenced(lanes));
  order.tick();
}

void RaceCheck::fence(Warp& warp, LaneMask active, Proxy proxy, Semantics semantics, Scope scope) {
  if (proxy != Proxy::Generic) return;
  settled(warp).order.fence(active, semantics != Semantics::Release, semantics != Semantics::Acquire, isWide(scope));
}

} // namespace tiletwin::sim
