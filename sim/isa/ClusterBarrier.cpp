// sim/isa/ClusterBarrier.cpp -- barrier.cluster.arrive and barrier.cluster.wait.
//
// Idea:      threads are counted; the phase ends when all live threads of the cluster have come. What each lane has done is kept in
//            three masks a warp, so that arriving and waiting may lie apart.
// Invariant: Cluster::arrived counts the lanes in the `arrived` masks, all of which are live.
#include "sim/isa/Barrier.h"
#include "sim/isa/WaitText.h"
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
  for (Observer* observer : cluster.grid->observers) observer->phaseEnds(cluster, &cluster.arrivals);
  for (Cluster::Arrival& arrival : cluster.arrivals) {
    arrival.released = (arrival.released | arrival.arrived) & ~arrival.asleep;
    arrival.arrived = 0;
    if (const LaneMask asleep = std::exchange(arrival.asleep, LaneMask(0))) {
      arrival.warp->wake(asleep);
      for (Observer* observer : cluster.grid->observers)
        observer->waited(*arrival.warp, asleep, &cluster.arrivals, Semantics::Acquire);
    }
  }
}

/// Inst::immediate: kAligned, kRelaxed.
constexpr int64_t kAligned = 1, kRelaxed = 2;

Step runArrive(const Inst& in, Warp& warp, LaneMask active) {
  Cluster::Arrival& arrival = arrivalOf(warp);
  if (in.immediate & kAligned)
    if (const Step s = gatherAtBarrier(warp, active); s != Step::Next) return s;
  if (const LaneMask again = (arrival.arrived | arrival.released) & active)
    return warp.trap(TrapKind::InvalidValue, "arrives at the cluster's barrier twice without waiting there",
                     __builtin_ctz(again));
  arrival.arrived |= active;
  warp.cta->cluster->arrived += uint32_t(__builtin_popcount(active));
  for (Observer* observer : warp.cta->cluster->grid->observers)
    observer->arrives(warp, active, &warp.cta->cluster->arrivals,
                      in.immediate & kRelaxed ? Semantics::Relaxed : Semantics::Release);
  completeIfAllHaveCome(*warp.cta->cluster);
  return Step::Next;
}

Step runWait(const Inst& in, Warp& warp, LaneMask active) {
  Cluster::Arrival& arrival = arrivalOf(warp);
  if (in.immediate & kAligned)
    if (const Step s = gatherAtBarrier(warp, active); s != Step::Next) return s;
  if (const LaneMask absent = active & ~(arrival.arrived | arrival.released))
    return warp.trap(TrapKind::InvalidValue, "waits at the cluster's barrier without having arrived there",
                     __builtin_ctz(absent));
  if ((active & arrival.arrived) == 0) {
    arrival.released &= ~active;
    for (Observer* observer : warp.cta->cluster->grid->observers)
      observer->waited(warp, active, &warp.cta->cluster->arrivals, Semantics::Acquire);
    return Step::Next;
  }
  if (active & arrival.released) return Step::Retry; // lanes of two phases at one place: the earlier ones move on first
  arrival.asleep |= active;
  return Step::Park;
}

} // namespace

std::string clusterWaitText(Warp& warp, const Inst* at) {
  if (at->run != runWait && at->run != runArrive) return {};
  const Cluster& cluster = *warp.cta->cluster;
  return "the cluster's barrier waits for " + std::to_string(cluster.liveThreads) + " threads, " +
         std::to_string(cluster.arrived) + " have come";
}

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
  // Clusters run on one thread, in the order of a sequentially consistent memory: .relaxed matters only to those who look on.
  const std::string_view order =
      form == "arrive" ? words.takeOneOf({"release", "relaxed"}) : words.takeOneOf({"acquire"});
  out.immediate = (words.take("aligned") ? kAligned : 0) | (order == "relaxed" ? kRelaxed : 0);
  out.run = form == "arrive" ? runArrive : runWait;
  return decoder.operands(in, 0);
}

} // namespace tiletwin::sim
