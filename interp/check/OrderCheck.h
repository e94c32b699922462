// interp/check/OrderCheck.h -- whether a launch leaves the same bits in whatever order its programs run.
//
// Here:      the grid run forward, backward and shuffled, each time from the same memory; the first element that differs, and
//            who wrote it.
// Not here:  how programs are run (run/Launch.cpp), data races (MemoryCheck.h).
// Idea:      the runs use the launch's own memory, so that addresses in it stay true; what it held is copied before and put
//            back between them. A kernel that reaches memory outside of its arguments cannot be run again that way: a
//            finding says that it was not checked.
// Invariant: afterwards memory holds what the forward run left, whatever the other runs did.
#pragma once
#include "interp/Interp.h"
#include "interp/program/ProbeAccess.h"
#include "runtime/Findings.h"
#include <mutex>
#include <vector>

namespace tiletwin::interp {

/// Notes who writes certain bytes.
class WriteWatch {
public:
  struct Range {
    uintptr_t begin, end;
  };
  struct Writer {
    std::array<int32_t, 3> program;
    const ProbeAccessOp* op;
  };
  /// `element`: whose writers are listed; `differing`: ascending, looked at for writes that are no sums of floats.
  WriteWatch(Range element, std::vector<Range> differing) : element_(element), differing_(std::move(differing)) {}
  void access(const ProbeAccessOp& op, Frame& f);
  const std::vector<Writer>& writers() const { return writers_; } ///< in the order in which they wrote; a program once
  bool onlyFloatSums() const { return onlyFloatSums_; }

private:
  const Range element_;
  const std::vector<Range> differing_;
  std::mutex mutex_;
  std::vector<Writer> writers_; ///< under mutex_
  bool onlyFloatSums_ = true;   ///< under mutex_
};

using RunLaunch = Trap (*)(const Program& program, const LaunchParams& params, const Hooks& hooks);

/// Whether a launch is to be run in several orders.
bool checksOrder(const Program& program, const LaunchParams& params);
/// Runs it. The trap is the forward run's.
Trap launchInOrders(const Program& program, const LaunchParams& params, const Hooks& hooks, RunLaunch run);

} // namespace tiletwin::interp
