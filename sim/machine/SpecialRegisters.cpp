// sim/machine/SpecialRegisters.cpp -- what special registers hold.
// Not here:  their names (ptx/SpecialRegisters.h).
#include "sim/machine/Cta.h"
#include "sim/machine/Memory.h"
#include "sim/machine/Program.h"
#include <chrono>

namespace tiletwin::sim {
namespace {

template <class Clock> uint64_t nanosecondsOf() {
  return uint64_t(std::chrono::nanoseconds(Clock::now().time_since_epoch()).count());
}
uint64_t nanoseconds() { return nanosecondsOf<std::chrono::system_clock>(); }
/// A number that grows with each instruction of the warp is enough of a clock; time makes loops that wait for it end.
uint64_t clockTicks() { return nanosecondsOf<std::chrono::steady_clock>(); }

constexpr uint64_t kStreamingMultiprocessors = 132;

/// Component `i` of a register that has three.
uint32_t partOf(Special special, size_t i, uint32_t thread, const Cta& cta) {
  const LaunchParams& params = *cta.cluster->grid->params;
  switch (special) {
  case Special::Tid:
    for (size_t d = 0; d < i; ++d) thread /= params.block[d];
    return thread % params.block[i];
  case Special::Ntid: return params.block[i];
  case Special::Ctaid: return cta.id[i];
  case Special::Nctaid: return params.grid[i];
  case Special::Clusterid: return cta.cluster->id[i];
  case Special::Nclusterid: return params.grid[i] / params.cluster[i];
  case Special::ClusterCtaid: return cta.id[i] % params.cluster[i];
  default: return params.cluster[i];
  }
}

uint64_t valueOf(Special special, const Warp& warp, uint32_t localBase, uint32_t lane) {
  const Cta& cta = *warp.cta;
  const Cluster& cluster = *cta.cluster;
  const LaunchParams& params = *cluster.grid->params;
  const uint32_t thread = warp.index * kLanes + lane;
  if (special < Special::ClusterCtarank)
    return partOf(Special(size_t(special) / 3 * 3), size_t(special) % 3, thread, cta);
  switch (special) {
  case Special::ClusterCtarank: return cta.rank;
  case Special::ClusterNctarank: return cluster.ctas.size();
  case Special::IsExplicitCluster: return cluster.ctas.size() > 1;
  case Special::Laneid: return lane;
  case Special::Warpid: return warp.index;
  case Special::Nwarpid: return (cta.threads + kLanes - 1) / kLanes;
  case Special::Smid: return cluster.linear % kStreamingMultiprocessors;
  case Special::Nsmid: return kStreamingMultiprocessors;
  case Special::LanemaskEq: return LaneMask(1) << lane;
  case Special::LanemaskLt: return (LaneMask(1) << lane) - 1;
  case Special::LanemaskLe: return (LaneMask(2) << lane) - 1;
  case Special::LanemaskGe: return LaneMask(~((LaneMask(1) << lane) - 1));
  case Special::LanemaskGt: return LaneMask(~((LaneMask(2) << lane) - 1));
  case Special::TotalSmemSize:
  case Special::AggrSmemSize: return cta.shared.size();
  case Special::DynamicSmemSize: return params.dynamicShared;
  case Special::GridWorkspace: return uint32_t(params.gridWorkspace);
  case Special::GridWorkspaceHi: return params.gridWorkspace >> 32;
  case Special::SharedBase: return uint64_t(cta.rank) << kSharedRankShift;
  case Special::LocalBase: return localBase;
  case Special::Clock: return uint32_t(clockTicks());
  case Special::Clock64: return clockTicks();
  case Special::ClockHi: return clockTicks() >> 32;
  case Special::Globaltimer: return nanoseconds();
  case Special::GlobaltimerLo: return uint32_t(nanoseconds());
  case Special::GlobaltimerHi: return nanoseconds() >> 32;
  default: return 0;
  }
}

template <class T> void fill(Special special, const Warp& warp, uint32_t localBase, std::byte* lanes) {
  T* out = reinterpret_cast<T*>(lanes);
  if (changesWhileRunning(special)) { // one moment for all lanes
    const T now = T(valueOf(special, warp, localBase, 0));
    for (int i = 0; i < kLanes; ++i) out[i] = now;
    return;
  }
  for (int i = 0; i < kLanes; ++i) out[i] = T(valueOf(special, warp, localBase, uint32_t(i)));
}

} // namespace

void fillSpecial(Special special, int bytes, const Warp& warp, uint32_t localBase, std::byte* lanes) {
  if (bytes == 8) return fill<uint64_t>(special, warp, localBase, lanes);
  if (bytes == 4) return fill<uint32_t>(special, warp, localBase, lanes);
  fill<uint16_t>(special, warp, localBase, lanes);
}

} // namespace tiletwin::sim
