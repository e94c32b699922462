// sim/machine/Turns.h -- whose turn it is in a cluster, where a seed decides.
// Not here:  what a turn does (Run.h), what happens when nobody can go on (Cluster.cpp).
// Idea:      a schedule is made of stretches of some turns. In one stretch every turn goes to any warp; in another warps have ranks,
//            and the first that can go on gets every turn: then some are far ahead and others starve, which is where
//            protocols break. Ranks last for one stretch only, so that whoever spins cannot keep others from running for ever.
#pragma once
#include "sim/machine/Cta.h"

namespace tiletwin::sim {

class Turns {
public:
  explicit Turns(Cluster& cluster); ///< which has a source of chance
  /// The warp that runs next; null: all that live wait.
  Warp* next();
  /// Instructions of its turn.
  uint64_t budget();
  /// The warp of the last turn could not go on. It is not asked again before another one has gone on.
  void waits() { waiting_[last_] = true; }
  /// Something has happened that any warp may have waited for.
  void goesOn() { waiting_.assign(waiting_.size(), false); }

private:
  bool mayRun(size_t i) const { return warps_[i]->live && !waiting_[i]; }
  void beginStretch();

  Random& random_;
  std::vector<Warp*> warps_;
  std::vector<bool> waiting_;
  std::vector<size_t> ranks_; ///< of this stretch: indices, first to last; empty: any warp
  uint64_t left_ = 0;         ///< turns of this stretch
  size_t last_ = 0;
};

} // namespace tiletwin::sim
