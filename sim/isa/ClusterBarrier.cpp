// sim/isa/ClusterBarrier.cpp -- barrier.cluster.arrive and barrier.cluster.wait.
//
// Idea:      threads are counted; the phase ends when all live threads of the cluster have come. What each lane has done is kept in
//            three masks a warp, so that arriving and waiting may lie apart.
// Invariant: Cluster::arrived counts the lanes in the `arrived` masks, all of which are live.
#include "sim/isa/Barrier.h"
#include "sim/isa/CtaHooks.h"
#include "sim/isa/WarpOps.h"
#include "sim/machine/Cta.h"
#include "sim/machine/Observer.h"
#include <utility>

namespace tiletwin::sim {

namespace {

Cluster::Arrival& arrivalOf(Warp& warp) {
  Cluster& cluster = *warp.cta->cluster;
  const size_t warps = cluster.ctas.front().warps.size();
  if (cluster.arrivals.empty()) {
    cluster.arrivals.resize(cluster.ctas.size() * warps);
    for (Cta& cta : cluster.ctas) {
      cta.onExit = leaveBarriers;
      for (Warp& each : cta.warps) cluster.arrivals[cta.rank * warps + each.index].warp = &each;
    }
  }
  return cluster.arrivals[warp.cta->rank * warps + warp.index];
}

void completeIfAllHaveCome(Cluster& cluster) {
  if (cluster.arrived == 0 || cluster.arrived != cluster.liveThreads) return;
  cluster.arrived = 0;
  for (Cluster::Arrival& arrival : cluster.arrivals) {
    arrival.released = (arrival.released | arrival.arrived) & ~arrival.asleep;
    arrival.arrived = 0;
    if (const LaneMask asleep = std::exchange(arrival.asleep, LaneMask(0))) arrival.warp->wake(asleep);
  }
  for (Cta& cta : cluster.ctas)
    for (Observer* observer : cluster.grid->observers) observer->barrier(cta, -1);
}

/// Inst::immediate is 1 if aligned.
Step runArrive(const Inst& in, Warp& warp, LaneMask active) {
  if (in.immediate)
    if (const Step s = gatherMembers(warp, kAllLanes, active); s != Step::Next) return s;
  Cluster::Arrival& arrival = arrivalOf(warp);
  if (const LaneMask again = (arrival.arrived | arrival.released) & active)
    return warp.trap(TrapKind::InvalidValue, "arrives at the cluster's barrier twice without waiting there",
                     __builtin_ctz(again));
  arrival.arrived |= active;
  warp.cta->cluster->arrived += uint32_t(__builtin_popcount(active));
  completeIfAllHaveCome(*warp.cta->cluster);
  return Step::Next;
}

Step runWait(const Inst& in, Warp& warp, LaneMask active) {
  if (in.immediate)
    if (const Step s = gatherMembers(warp, kAllLanes, active); s != Step::Next) return s;
  Cluster::Arrival& arrival = arrivalOf(warp);
  if (const LaneMask absent = active & ~(arrival.arrived | arrival.released))
    return warp.trap(TrapKind::InvalidValue, "waits at the cluster's barrier without having arrived there",
                     __builtin_ctz(absent));
  if ((active & arrival.arrived) == 0) {
    arrival.released &= ~active;
    return Step::Next;
  }
  if (active & arrival.released) return Step::Retry; // lanes of two phases at one place: the earlier ones move on first
  arrival.asleep |= active;
  return Step::Park;
}

} // namespace

void leaveClusterBarrier(Warp& warp, LaneMask lanes) {
  Cluster& cluster = *warp.cta->cluster;
  if (cluster.arrivals.empty()) return;
  Cluster::Arrival& arrival = arrivalOf(warp);
  cluster.arrived -= uint32_t(__builtin_popcount(arrival.arrived & lanes));
  arrival.arrived &= ~lanes;
  arrival.released &= ~lanes;
  completeIfAllHaveCome(cluster);
}

bool decodeClusterBarrier(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const std::string_view form = words.takeOneOf({"arrive", "wait"});
  if (form.empty()) return decoder.fail("barrier.cluster wants .arrive or .wait");
  // Clusters run on one thread, in the order of a sequentially consistent memory: there is nothing to order.
  if (form == "arrive") {
    words.takeOneOf({"release", "relaxed"});
  } else {
    words.takeOneOf({"acquire"});
  }
  out.immediate = words.take("aligned");
  out.run = form == "arrive" ? runArrive : runWait;
  return decoder.operands(in, 0);
}

} // namespace tiletwin::sim
