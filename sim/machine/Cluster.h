// sim/machine/Cluster.h -- a cluster from its first instruction to its last: its warps take turns on one thread.
// Not here:  which cluster runs on which thread (Launch.cpp).
// Invariant: a cluster is run by one thread at a time; nothing of it lies on that thread's stack between two turns.
#pragma once
#include "sim/machine/Cta.h"
#include "sim/machine/Run.h"
#include "sim/machine/Turns.h"

namespace tiletwin::sim {

class ClusterRun {
public:
  enum class End : uint8_t {
    Finished,
    Turn,    ///< the budget is used up
    Stopped, ///< a trap, or the launch has been stopped
  };

  /// Cluster number `linear` of the grid.
  ClusterRun(Grid& grid, uint64_t linear, std::shared_ptr<FramePool> frames);
  /// Runs for about `budget` instructions of warps.
  End run(uint64_t budget);
  /// It did little but look at memory that others write in its last turn: a grid-wide barrier, a lock.
  bool spins() const { return spins_; }
  const RunCounts& counts() const { return counts_; }
  std::shared_ptr<FramePool> frames() const { return cluster_.frames; }

private:
  void start(Cta& cta, uint32_t rank);
  bool countInstructions(uint64_t before);
  End runInOrder(uint64_t end);
  End runDrawn(Turns& turns, uint64_t end);
  End turnOf(Warp& warp, uint64_t budget, Turn& turn);
  void endCta(Cta& cta);
  bool giveUp();
  uint64_t polls() const;

  Cluster cluster_;
  RunCounts counts_;
  bool spins_ = false;
  std::optional<Turns> turns_; ///< where a seed decides whose turn it is
};

} // namespace tiletwin::sim
