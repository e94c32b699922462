// sim/ptx/SpecialRegisters.cpp -- see SpecialRegisters.h.
#include "sim/ptx/SpecialRegisters.h"
#include <algorithm>
#include <string>

namespace tiletwin::sim {
namespace {

struct Row {
  std::string_view name;
  Special first; ///< of component x
  int8_t parts;  ///< 1: no components
};
constexpr Row kRows[] = {
    {"%tid", Special::Tid, 3},
    {"%ntid", Special::Ntid, 3},
    {"%ctaid", Special::Ctaid, 3},
    {"%nctaid", Special::Nctaid, 3},
    {"%clusterid", Special::Clusterid, 3},
    {"%nclusterid", Special::Nclusterid, 3},
    {"%cluster_ctaid", Special::ClusterCtaid, 3},
    {"%cluster_nctaid", Special::ClusterNctaid, 3},
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
    {"%envreg1", Special::GridWorkspaceHi, 1}, // as the CUDA toolkit's cooperative groups read them
    {"%envreg2", Special::GridWorkspace, 1},
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

/// Names with a number at the end; those without a row are Zero.
struct NumberedSpecial {
  std::string_view prefix, suffix;
  int count;
};
constexpr NumberedSpecial kNumberedSpecial[] = {
    {"%envreg", "", 32}, {"%pm", "", 8}, {"%pm", "_64", 8}, {"%reserved_smem_offset_", "", 2}};

bool isNumbered(std::string_view name) {
  return std::ranges::any_of(kNumberedSpecial, [&](const NumberedSpecial& row) {
    if (!name.starts_with(row.prefix)) return false;
    for (int i = 0; i < row.count; ++i)
      if (name.substr(row.prefix.size()) == std::to_string(i).append(row.suffix)) return true;
    return false;
  });
}

} // namespace

bool isSpecial(std::string_view name) {
  return isNumbered(name) || std::ranges::find(kRows, name, &Row::name) != std::end(kRows);
}

std::optional<Special> findSpecial(std::string_view name, int component) {
  const Row* row = std::ranges::find(kRows, name, &Row::name);
  if (row == std::end(kRows) && isNumbered(name)) return Special::Zero;
  if (row == std::end(kRows) || (row->parts == 1) != (component < 0)) return std::nullopt;
  if (component == 3) return Special::Zero; // .w of a vector of three
  return Special(int(row->first) + std::max(component, 0));
}

int bytesOf(Special special) {
  return special == Special::Clock64 || special == Special::Globaltimer || special == Special::Gridid ? 8 : 4;
}

} // namespace tiletwin::sim
