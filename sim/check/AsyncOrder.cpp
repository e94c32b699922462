#include "sim/check/AsyncOrder.h"
#include <algorithm>

namespace tiletwin::sim {

AsyncOrder::AsyncOrder(const Cluster& cluster, uint64_t warpsOfCta, uint32_t latest)
    : warpsOfCta_(warpsOfCta), latest_(latest), warps_(cluster.ctas.size() * warpsOfCta),
      mbarriersOf_(cluster.ctas.size()) {}

AsyncOrder::Thread& AsyncOrder::thread(const Warp& warp, int lane, AsyncGroups groups) {
  std::vector<Thread>& lanes = warps_[warp.cta->rank * warpsOfCta_ + warp.index].of[size_t(groups)];
  if (lanes.empty()) lanes.resize(kLanes);
  return lanes[size_t(lane)];
}

void AsyncOrder::commits(const Warp& warp, int lane, AsyncGroups groups) {
  Thread& own = thread(warp, lane, groups);
  own.committed.push_back(own.now);
  own.now += own.now < latest_;
}

void AsyncOrder::waited(const Warp& warp, int lane, AsyncGroups groups, uint64_t pending, uint32_t now) {
  Thread& own = thread(warp, lane, groups);
  if (own.committed.size() <= pending) return;
  const uint32_t upTo = own.committed[own.committed.size() - size_t(pending) - 1];
  if (own.waits.empty() || own.waits.back().upTo < upTo) own.waits.push_back({upTo, now});
}

uint32_t AsyncOrder::doneAt(uint32_t rank, uint32_t warp, int lane, AsyncGroups groups, uint32_t time) const {
  const std::vector<Thread>& lanes = warps_[rank * warpsOfCta_ + warp].of[size_t(groups)];
  if (lanes.empty()) return 0;
  const std::vector<Wait>& waits = lanes[size_t(lane)].waits;
  const auto first = std::lower_bound(waits.begin(), waits.end(), time,
                                      [](const Wait& wait, uint32_t wanted) { return wait.upTo < wanted; });
  return first == waits.end() ? 0 : first->at;
}

uint32_t AsyncOrder::handsOn(const Warp& warp, int lane, AsyncGroups groups) {
  Thread& own = thread(warp, lane, groups);
  const uint32_t time = own.now;
  own.now += own.now < latest_; // what the thread issues later is not part of it
  return time;
}

AsyncOrder::Mbarrier* AsyncOrder::mbarrier(const AsyncAgents& agents, const Cta& owner, uint64_t ctaNumber,
                                           const void* object) {
  const auto [at, isNew] = mbarriers_.try_emplace(object);
  if (isNew && mbarriersOf_[owner.rank] < AsyncAgents::kMostMbarriers)
    at->second = Mbarrier{agents.ofMbarrier(ctaNumber, mbarriersOf_[owner.rank]++), 1};
  return at->second ? &*at->second : nullptr;
}

AsyncOrder::Mbarrier* AsyncOrder::find(const void* object) {
  const auto at = mbarriers_.find(object);
  return at != mbarriers_.end() && at->second ? &*at->second : nullptr;
}

} // namespace tiletwin::sim
