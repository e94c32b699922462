#include "sim/machine/Cluster.h"
#include "sim/machine/LocalMemory.h"
#include "sim/machine/Observer.h"
#include "sim/machine/Program.h"
#include "sim/machine/TrapText.h"

namespace tiletwin::sim {

namespace {
/// Instructions of one warp before the next one's turn.
constexpr uint64_t kWarpTurn = 1024;

} // namespace

ClusterRun::ClusterRun(Grid& grid, uint64_t linear, std::shared_ptr<FramePool> frames) {
  const LaunchParams& params = *grid.params;
  cluster_.grid = &grid;
  cluster_.linear = linear;
  cluster_.frames = frames ? std::move(frames) : std::make_shared<FramePool>();
  std::array<uint32_t, 3> clusters;
  for (size_t i = 0; i < 3; ++i) clusters[i] = params.grid[i] / params.cluster[i];
  cluster_.id = unravel(linear, clusters);
  const uint32_t size = params.cluster[0] * params.cluster[1] * params.cluster[2];
  for (uint32_t rank = 0; rank < size; ++rank) cluster_.ctas.emplace_back();
  for (uint32_t rank = 0; rank < size; ++rank) start(cluster_.ctas[rank], rank);
}

void ClusterRun::start(Cta& cta, uint32_t rank) {
  Grid& grid = *cluster_.grid;
  const LaunchParams& params = *grid.params;
  const FunctionCode& entry = grid.program->entryCode();
  const std::array<uint32_t, 3> inCluster = unravel(rank, params.cluster);
  cta.cluster = &cluster_;
  cta.rank = rank;
  for (size_t i = 0; i < 3; ++i) cta.id[i] = cluster_.id[i] * params.cluster[i] + inCluster[i];
  cta.shared.resize(grid.program->staticShared + params.dynamicShared);
  cta.threads = cta.liveThreads = params.block[0] * params.block[1] * params.block[2];
  cluster_.liveThreads += cta.threads;
  growLocalMemory(cta, entry.localBytes);
  for (uint32_t first = 0; first < cta.threads; first += kLanes) {
    Warp& warp = cta.warps.emplace_back();
    warp.cta = &cta;
    warp.index = first / kLanes;
    const uint32_t lanes = std::min<uint32_t>(kLanes, cta.threads - first);
    startWarp(warp, entry, lanes == kLanes ? kAllLanes : (LaneMask(1) << lanes) - 1, *cluster_.frames);
  }
  for (Observer* observer : grid.observers) {
    observer->begins(cta);
    for (Warp& warp : cta.warps) observer->enters(warp, *warp.running->frame, warp.live);
  }
}

/// False: the limit that the user has set is reached.
bool ClusterRun::countInstructions(uint64_t before) {
  Grid& grid = *cluster_.grid;
  const uint64_t limit = grid.params->instructionLimit;
  const uint64_t ran = counts_.instructions - before;
  const uint64_t all = grid.instructions.fetch_add(ran, std::memory_order_relaxed) + ran;
  if (!limit || all <= limit) return true;
  raiseDeadlock(cluster_, "the launch has run " + std::to_string(limit) +
                              " instructions, the limit, and has not come to its end; it is at");
  return false;
}

uint64_t ClusterRun::polls() const {
  uint64_t sum = 0;
  for (const Cta& cta : cluster_.ctas)
    for (const Warp& warp : cta.warps) sum += warp.polls;
  return sum;
}

ClusterRun::End ClusterRun::run(uint64_t budget) {
  Grid& grid = *cluster_.grid;
  const uint64_t begin = counts_.instructions, pollsBefore = polls();
  while (cluster_.liveThreads) {
    bool progress = false;
    for (Cta& cta : cluster_.ctas) {
      if (!cta.liveThreads) continue;
      for (Warp& warp : cta.warps) {
        if (!warp.live) continue;
        if (grid.stop.load(std::memory_order_relaxed)) return End::Stopped;
        const uint64_t before = counts_.instructions;
        const Turn turn = runWarp(warp, kWarpTurn, counts_);
        if (turn == Turn::Trapped || !countInstructions(before)) return End::Stopped;
        progress |= turn == Turn::Ran;
      }
      if (cta.liveThreads) continue;
      if (cta.onEnd) cta.onEnd(cta);
      for (Observer* observer : grid.observers) observer->ends(cta);
      progress = true;
    }
    if (!progress) {
      bool freed = false;
      for (Cta& cta : cluster_.ctas)
        for (Warp& warp : cta.warps) freed |= giveUpWaiting(warp, true);
      if (!freed) {
        raiseDeadlock(cluster_, "no thread of this cluster can go on:");
        return End::Stopped;
      }
    }
    const uint64_t ran = counts_.instructions - begin;
    if (ran >= budget && cluster_.liveThreads) {
      constexpr uint64_t kInstructionsPerPoll = 256;
      spins_ = (polls() - pollsBefore) * kInstructionsPerPoll > ran;
      return End::Turn;
    }
  }
  return End::Finished;
}

} // namespace tiletwin::sim
