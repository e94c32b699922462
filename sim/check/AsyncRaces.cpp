// sim/check/AsyncRaces.cpp -- the check of races: asynchronous operations, and what their ends put in order.
// Idea:      AsyncOrder.h.
#include "sim/check/RaceState.h"
#include <algorithm>

namespace tiletwin::sim {

void RaceCheck::issues(Warp& warp, LaneMask lanes, const AsyncUse& use, std::byte* const* at) {
  AsyncOrder& async = *warp.cta->cluster->races->async;
  if (use.mbarrier) {
    const AsyncOrder::Mbarrier* agent = async.mbarrier(agents_, *use.owner, numberOf(*use.owner), use.mbarrier);
    if (agent) lookAtIssued(warp, lanes, use, at, agent->number, agent->time);
    return;
  }
  const uint32_t number = agents_.ofGroups(numberOf(*warp.cta), warp.index, use.groups);
  for (LaneMask rest = lanes; rest;) {
    const uint32_t time = async.time(warp, __builtin_ctz(rest), use.groups);
    LaneMask same = 0; // nearly always all of them
    eachLane(rest, [&](int i) { same |= LaneMask(async.time(warp, i, use.groups) == time) << i; });
    rest &= ~same;
    lookAtIssued(warp, same, use, at, number, time);
  }
}

/// The issuer's knowledge, the agent's stamp.
void RaceCheck::lookAtIssued(Warp& warp, LaneMask lanes, const AsyncUse& use, std::byte* const* at, uint32_t number,
                             uint32_t time) {
  const Access access{.space = Space::Shared, .kind = use.kind};
  Accessing now = begin(warp, access, lanes, at, use.bytes);
  now.isDone = true;
  const Strength strength = use.kind == AccessKind::Atomic ? Strength::Wide : Strength::Weak;
  now.stamp = layout_.make(time, number, places_.of(*warp.running->frame->code, *warp.at), strength);
  eachLane(lanes, [&](int lane) {
    lookAtShared(now, lane, use.owner->rank, uint64_t(at[lane] - use.owner->shared.data()), at[lane], use.bytes);
  });
}

/// Does the lane know that an operation has ended?
bool RaceCheck::isDone(Accessing& now, int lane, Stamp other) const {
  using Kind = AsyncAgents::Kind;
  const uint32_t number = layout_.warp(other), time = layout_.time(other);
  const int otherLane = StampLayout::lane(other);
  const Kind kind = agents_.kind(number);
  if (kind != Kind::Mbarrier) {
    const Cluster& cluster = *now.warp.cta->cluster;
    const uint64_t cta = agents_.cta(number);
    const auto rank = uint32_t(cta - cluster.linear * cluster.ctas.size());
    const uint32_t warp = agents_.warp(number);
    if (const uint32_t at = now.cluster.async->doneAt(rank, warp, otherLane, AsyncGroups(kind), time)) {
      const auto issuer = uint32_t(cta * warpsOfCta_ + warp);
      const bool isOfWarp = kind == Kind::Products; // all lanes have waited
      if (issuer == now.own.order.number() && (isOfWarp || otherLane == lane)) return true;
      const LaneTimes& known = now.known(lane, issuer);
      if ((isOfWarp ? std::max(known.all, known.some) : known.of(otherLane)) >= at) return true;
    }
    if (kind == Kind::Bulk || kind == Kind::Products) return false;
  }
  return now.known(lane, number).of(otherLane) >= time;
}

void RaceCheck::commits(Warp& warp, LaneMask lanes, AsyncGroups groups) {
  AsyncOrder& async = *warp.cta->cluster->races->async;
  eachLane(lanes, [&](int lane) { async.commits(warp, lane, groups); });
}

void RaceCheck::waitedForGroups(Warp& warp, LaneMask lanes, AsyncGroups groups, uint64_t pending) {
  AsyncOrder& async = *warp.cta->cluster->races->async;
  const uint32_t now = racesOf(warp).order.time();
  eachLane(lanes, [&](int lane) { async.waited(warp, lane, groups, pending, now); });
}

void RaceCheck::workArrives(Warp& warp, int lane, AsyncGroups groups, const void* mbarrier) {
  ClusterRaces& races = *warp.cta->cluster->races;
  const auto clock = std::make_shared<Clock>();
  clock->join(agents_.ofGroups(numberOf(*warp.cta), warp.index, groups),
              {0, races.async->handsOn(warp, lane, groups), LaneMask(1) << lane});
  races.phases.arrive(mbarrier, clock);
}

/// The phase hands on that all operations which were issued in it have ended.
void RaceCheck::endsForAgent(ClusterRaces& races, const void* mbarrier) {
  AsyncOrder::Mbarrier* agent = races.async ? races.async->find(mbarrier) : nullptr;
  if (!agent) return;
  const auto clock = std::make_shared<Clock>();
  clock->join(agent->number, {agent->time, 0, 0});
  races.phases.arrive(mbarrier, clock);
  races.async->phaseEnds(*agent);
}

} // namespace tiletwin::sim
