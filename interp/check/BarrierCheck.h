// interp/check/BarrierCheck.h -- the check of barriers during one launch: what a program reads of its own stores through other
// lanes, with no barrier in between.
//
// A lane is an element of a tile: element e of one access and element e of another one of the same shape and width belong to one
// thread, and a thread sees what it has stored itself. Any other element may belong to another one, which sees it for sure only
// behind a barrier. A scalar is stored by one thread and loaded by all.
// Here:      what each running program has written since its last barrier, and the findings.
// Not here:  which accesses may read what others wrote, in any program (plan/Followers.h); races between programs (RaceSet.h).
// Invariant: a program's writes are known to its own frame only, so that programs on all cores do not meet.
#pragma once
#include "interp/Interp.h"
#include "interp/check/Mistake.h"
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace tiletwin::interp {

class BarrierCheck {
public:
  BarrierCheck(const Plan& plan, const LaunchParams& params);
  /// Whether accesses through the argument (-1: through pointers that come from none) matter.
  bool wants(int32_t root) const { return wanted_[size_t(root + 1)]; }
  /// An access that has been made, through an argument that matters.
  void access(const ProbeAccessOp& op, Frame& f);
  /// The program has come to a barrier.
  static void barrier(Frame& f);
  /// After the launch.
  void report(FindingCollector& findings) const;

private:
  const LaunchParams& params_;
  std::vector<bool> wanted_;                        ///< by root + 1
  std::atomic<const ProbeAccessOp*> full_{nullptr}; ///< a store that no memory is left for
  std::mutex mutex_;
  std::map<std::pair<const ProbeAccessOp*, const ProbeAccessOp*>, Mistake> mistakes_; ///< reader, writer; under mutex_
};

} // namespace tiletwin::interp
