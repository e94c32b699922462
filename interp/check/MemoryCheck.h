// interp/check/MemoryCheck.h -- the checks of memory during one launch: bounds, uninitialized, races, barriers.
//
// Here:      which of them an access concerns, what they find, and the findings made of it when the launch has ended.
// Not here:  the shadow memory of each (RaceSet.h, RaceOrder.h, FreshMemory.h, runtime/ViewShape.h); what happens inside of one
//            program (BarrierCheck.h); the order of programs (OrderCheck.h).
// Invariant: access() may be called from any thread and changes no memory of the kernel; a finding depends on what programs
//            did, not on when.
#pragma once
#include "interp/Interp.h"
#include "interp/check/AccessRuns.h"
#include "interp/check/BarrierCheck.h"
#include "interp/check/FreshMemory.h"
#include "interp/check/RaceOrder.h"
#include "interp/check/RaceSet.h"
#include "interp/program/ProbeAccess.h"
#include "runtime/Findings.h"
#include <map>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

namespace tiletwin::interp {

class MemoryCheck {
public:
  /// For a launch of `plan`; `params` outlives it.
  MemoryCheck(const Plan& plan, const LaunchParams& params);
  /// Whether programs must run one after another, because they order each other.
  bool needsOrder() const { return ordered_ != nullptr; }
  /// The bits (probedBit()) of arguments that any check looks at accesses of.
  uint64_t probed() const;
  /// An access that has been made.
  void access(const ProbeAccessOp& op, Frame& f);
  /// After the launch: what was found.
  void report(FindingCollector& findings);

private:
  struct Argument {
    bool wanted = false;
    const Buffer* buffer = nullptr;
    const ViewShape* view = nullptr; ///< if accesses may miss it: it is not the whole storage
    std::vector<std::shared_ptr<FreshRegion>> fresh;
    RaceSet::Map::Region* plain = nullptr;
    RaceOrder::Map::Region* ordered = nullptr;
  };
  std::array<int32_t, 3> idOf(uint64_t linear) const;
  void checkRaces(const ProbeAccessOp& op, const Argument* argument, uintptr_t lo, uintptr_t hi, RaceStamp by);
  void synchronise(const ProbeAccessOp& op, Frame& f, const Argument* argument, RaceStamp by);
  template <class Bad>
  void note(Check check, const ProbeAccessOp& op, Frame& f, std::shared_ptr<FreshRegion> region, const Buffer* buffer,
            Bad&& bad);
  void noteOutside(const ProbeAccessOp& op, Frame& f, const Argument& argument);
  void noteUnwritten(const ProbeAccessOp& op, Frame& f, const std::vector<std::shared_ptr<FreshRegion>>& fresh);
  void reportMistakes(FindingCollector& findings);
  void reportRaces(FindingCollector& findings); // RaceReport.cpp
  const ProbeAccessOp& siteOf(uint32_t site) const;

  const Plan& plan_;
  const LaunchParams& params_;
  const bool bounds_, fresh_;
  bool wantsUnknown_ = false;
  std::vector<Argument> arguments_; // fixed
  std::unique_ptr<RaceSet> races_;  // null: not asked for, or ordered_ does it
  std::unique_ptr<RaceOrder> ordered_;
  std::unique_ptr<BarrierCheck> barriers_; // null: not asked for
  std::mutex mutex_;
  std::map<std::pair<Check, const ProbeAccessOp*>, Mistake> mistakes_; // under mutex_
};

} // namespace tiletwin::interp
