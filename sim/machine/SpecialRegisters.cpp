#include "sim/machine/SpecialRegisters.h"
#include "sim/machine/Cta.h"
#include "sim/machine/Memory.h"
#include <chrono>

namespace tiletwin::sim {
namespace {

struct Row {
  std::string_view name;
  Special first; ///< of component x
  int8_t parts;  ///< 1: no components
};
constexpr Row kRows[] = {
    {"%tid", Special::TidX, 3},
    {"%ntid", Special::NtidX, 3},
    {"%ctaid", Special::CtaidX, 3},
    {"%nctaid", Special::NctaidX, 3},
    {"%clusterid", Special::ClusteridX, 3},
    {"%nclusterid", Special::NclusteridX, 3},
    {"%cluster_ctaid", Special::ClusterCtaidX, 3},
    {"%cluster_nctaid", Special::ClusterNctaidX, 3},
    {"%cluster_ctarank", Special::ClusterCtarank, 1},
    {"%cluster_nctarank", Special::ClusterNctarank, 1},
    {"%is_explicit_cluster", Special::IsExplicitCluster, 1},
    {"%laneid", Special::Laneid, 1},
    {"%warpid", Special::Warpid, 1},
    {"%nwarpid", Special::Nwarpid, 1},
    {"%smid", Special::Smid, 1},
    {"%nsmid", Special::Nsmid, 1},
    {"%gridid", Special::Gridid, 1},
    {"%lanemask_eq", Special::LanemaskEq, 1},
    {"%lanemask_le", Special::LanemaskLe, 1},
    {"%lanemask_lt", Special::LanemaskLt, 1},
    {"%lanemask_ge", Special::LanemaskGe, 1},
    {"%lanemask_gt", Special::LanemaskGt, 1},
    {"%total_smem_size", Special::TotalSmemSize, 1},
    {"%aggr_smem_size", Special::AggrSmemSize, 1},
    {"%dynamic_smem_size", Special::DynamicSmemSize, 1},
    {"%reserved_smem_offset_begin", Special::Zero, 1},
    {"%reserved_smem_offset_end", Special::Zero, 1},
    {"%reserved_smem_offset_cap", Special::Zero, 1},
    {"%current_graph_exec", Special::Zero, 1},
    {"%clock", Special::Clock, 1},
    {"%clock_hi", Special::ClockHi, 1},
    {"%clock64", Special::Clock64, 1},
    {"%globaltimer", Special::Globaltimer, 1},
    {"%globaltimer_lo", Special::GlobaltimerLo, 1},
    {"%globaltimer_hi", Special::GlobaltimerHi, 1},
};

/// %envreg0 to 31, %pm0 to 7, %pm0_64, %reserved_smem_offset_0, _1.
bool isNumbered(std::string_view name) {
  for (const std::string_view prefix : {"%envreg", "%pm", "%reserved_smem_offset_"})
    if (name.size() > prefix.size() && name.starts_with(prefix))
      return name[prefix.size()] >= '0' && name[prefix.size()] <= '9';
  return false;
}

uint64_t nanoseconds() {
  return uint64_t(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
}

/// A number that grows with each instruction of the warp is enough of a clock; time makes loops that wait for it end.
uint64_t clockTicks() {
  return uint64_t(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

constexpr uint64_t kStreamingMultiprocessors = 132;

uint64_t valueOf(Special special, const Warp& warp, uint32_t localBase, uint32_t lane) {
  const Cta& cta = *warp.cta;
  const Cluster& cluster = *cta.cluster;
  const LaunchParams& params = *cluster.grid->params;
  const auto part = [&](Special first) { return size_t(special) - size_t(first); };
  const uint32_t thread = warp.index * kLanes + lane;
  switch (special) {
  case Special::TidX: return thread % params.block[0];
  case Special::TidY: return thread / params.block[0] % params.block[1];
  case Special::TidZ: return thread / params.block[0] / params.block[1];
  case Special::NtidX:
  case Special::NtidY:
  case Special::NtidZ: return params.block[part(Special::NtidX)];
  case Special::CtaidX:
  case Special::CtaidY:
  case Special::CtaidZ: return cta.id[part(Special::CtaidX)];
  case Special::NctaidX:
  case Special::NctaidY:
  case Special::NctaidZ: return params.grid[part(Special::NctaidX)];
  case Special::ClusteridX:
  case Special::ClusteridY:
  case Special::ClusteridZ: return cluster.id[part(Special::ClusteridX)];
  case Special::NclusteridX:
  case Special::NclusteridY:
  case Special::NclusteridZ:
    return params.grid[part(Special::NclusteridX)] / params.cluster[part(Special::NclusteridX)];
  case Special::ClusterCtaidX:
  case Special::ClusterCtaidY:
  case Special::ClusterCtaidZ:
    return cta.id[part(Special::ClusterCtaidX)] % params.cluster[part(Special::ClusterCtaidX)];
  case Special::ClusterNctaidX:
  case Special::ClusterNctaidY:
  case Special::ClusterNctaidZ: return params.cluster[part(Special::ClusterNctaidX)];
  case Special::ClusterCtarank: return cta.rank;
  case Special::ClusterNctarank: return cluster.ctas.size();
  case Special::IsExplicitCluster: return cluster.ctas.size() > 1;
  case Special::Laneid: return lane;
  case Special::Warpid: return warp.index;
  case Special::Nwarpid: return (cta.threads + kLanes - 1) / kLanes;
  case Special::Smid: return cluster.linear % kStreamingMultiprocessors;
  case Special::Nsmid: return kStreamingMultiprocessors;
  case Special::Gridid:
  case Special::Zero: return 0;
  case Special::LanemaskEq: return LaneMask(1) << lane;
  case Special::LanemaskLt: return (LaneMask(1) << lane) - 1;
  case Special::LanemaskLe: return (LaneMask(2) << lane) - 1;
  case Special::LanemaskGe: return LaneMask(~((LaneMask(1) << lane) - 1));
  case Special::LanemaskGt: return LaneMask(~((LaneMask(2) << lane) - 1));
  case Special::TotalSmemSize:
  case Special::AggrSmemSize: return cta.shared.size();
  case Special::DynamicSmemSize: return params.dynamicShared;
  case Special::SharedBase: return uint64_t(cta.rank) << kSharedRankShift;
  case Special::LocalBase: return localBase;
  case Special::Clock: return uint32_t(clockTicks());
  case Special::Clock64: return clockTicks();
  case Special::ClockHi: return clockTicks() >> 32;
  case Special::Globaltimer: return nanoseconds();
  case Special::GlobaltimerLo: return uint32_t(nanoseconds());
  case Special::GlobaltimerHi: return nanoseconds() >> 32;
  }
  return 0;
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

std::optional<Special> findSpecial(std::string_view name, int component) {
  if (isNumbered(name)) return Special::Zero;
  for (const Row& row : kRows) {
    if (row.name != name) continue;
    if (row.parts == 1) return component < 0 ? std::optional(row.first) : std::nullopt;
    if (component == 3) return Special::Zero; // .w of a vector of three
    if (component < 0) return std::nullopt;
    return Special(int(row.first) + component);
  }
  return std::nullopt;
}

int bytesOf(Special special) {
  return special == Special::Clock64 || special == Special::Globaltimer || special == Special::Gridid ? 8 : 4;
}

void fillSpecial(Special special, int bytes, const Warp& warp, uint32_t localBase, std::byte* lanes) {
  if (bytes == 8) return fill<uint64_t>(special, warp, localBase, lanes);
  if (bytes == 4) return fill<uint32_t>(special, warp, localBase, lanes);
  fill<uint16_t>(special, warp, localBase, lanes);
}

} // namespace tiletwin::sim
