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
  if (!grid.schedule.seed) return;
  cluster_.random.emplace(*grid.schedule.seed, linear);
  turns_.emplace(cluster_);
}

void ClusterRun::start(Cta& cta, uint32_t rank) {
  Grid& grid = *cluster_.grid;
  const LaunchParams& params = *grid.params;
  const FunctionCode& entry = grid.program->entryCode();
  const std::array<uint32_t, 3> inCluster = unravel(rank, params.cluster);
  cta.cluster = &cluster_;
  cta.rank = rank;
  for (size_t i = 0; i < 3; ++i) cta.id[i] = cluster_.id[i] * params.cluster[i] + inCluster[i];
  const size_t unit = params.sharedGranularity;
  cta.shared.resize((grid.program->staticShared + params.dynamicShared + unit - 1) / unit * unit);
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

/// End::Turn: it has run, or waits.
ClusterRun::End ClusterRun::turnOf(Warp& warp, uint64_t budget, Turn& turn) {
  if (cluster_.grid->stop.load(std::memory_order_relaxed)) return End::Stopped;
  const uint64_t before = counts_.instructions;
  TurnKeeper* const keeper = cluster_.grid->keeper;
  if (keeper) {
    budget = keeper->before(warp, budget);
    turn = Turn::Ran; // a warp that is held is no deadlock
    if (!budget) return End::Turn;
  }
  turn = runWarp(warp, budget, counts_);
  if (keeper) keeper->after(warp, turn == Turn::Ran);
  return turn == Turn::Trapped || !countInstructions(before) ? End::Stopped : End::Turn;
}

void ClusterRun::endCta(Cta& cta) {
  if (cta.onEnd) cta.onEnd(cta);
  for (Observer* observer : cluster_.grid->observers) observer->ends(cta);
}

/// All warps wait: lanes that wait for others of their warp go on without them. False: that helps nobody, which is a deadlock.
bool ClusterRun::giveUp() {
  bool freed = false;
  for (Cta& cta : cluster_.ctas)
    for (Warp& warp : cta.warps) freed |= giveUpWaiting(warp, true);
  if (!freed) raiseDeadlock(cluster_, "no thread of this cluster can go on:");
  return freed;
}

ClusterRun::End ClusterRun::run(uint64_t budget) {
  const uint64_t begin = counts_.instructions, pollsBefore = polls();
  const End end = turns_ ? runDrawn(*turns_, begin + budget) : runInOrder(begin + budget);
  if (end == End::Turn) {
    constexpr uint64_t kInstructionsPerPoll = 256;
    spins_ = (polls() - pollsBefore) * kInstructionsPerPoll > counts_.instructions - begin;
  }
  return end;
}

/// `end`: of the instructions that this turn of the cluster may come to.
ClusterRun::End ClusterRun::runInOrder(uint64_t end) {
  while (cluster_.liveThreads) {
    bool progress = false;
    for (Cta& cta : cluster_.ctas) {
      if (!cta.liveThreads) continue;
      for (Warp& warp : cta.warps) {
        if (!warp.live) continue;
        Turn turn{};
        if (turnOf(warp, kWarpTurn, turn) == End::Stopped) return End::Stopped;
        progress |= turn == Turn::Ran;
      }
      if (cta.liveThreads) continue;
      endCta(cta);
      progress = true;
    }
    if (!progress && !giveUp()) return End::Stopped;
    if (counts_.instructions >= end && cluster_.liveThreads) return End::Turn;
  }
  return End::Finished;
}

ClusterRun::End ClusterRun::runDrawn(Turns& turns, uint64_t end) {
  while (cluster_.liveThreads) {
    if (++cluster_.turn >= cluster_.nextDue) {
      cluster_.landDue(cluster_);
      turns.goesOn();
    }
    Warp* const warp = turns.next();
    if (!warp) {
      if (!giveUp()) return End::Stopped;
      turns.goesOn();
      continue;
    }
    Turn turn{};
    if (turnOf(*warp, turns.budget(), turn) == End::Stopped) return End::Stopped;
    turn == Turn::Ran ? turns.goesOn() : turns.waits();
    if (!warp->cta->liveThreads) endCta(*warp->cta);
    if (counts_.instructions >= end && cluster_.liveThreads) return End::Turn;
  }
  return End::Finished;
}

} // namespace tiletwin::sim
