// sim/check/Clock.h -- what is known of other threads: for each lane of each warp, up to which time its accesses come first.
//
// Here:      LaneTimes (one warp), Clock (all warps that something is known of), ClockRef (clocks that are shared).
// Not here:  whose clocks they are and what changes them (WarpOrder.h).
// Idea:      a vector clock with one entry for a warp. A warp has one time, which goes on with each release of one of its lanes; an
//            entry holds a time for all lanes and a later one for some of them, since lanes that synchronise alone are few.
//            Clocks do not change once they are shared, so that all threads behind a barrier have the same one.
// Invariant: joining never loses order. Where an entry would need a third time, lanes are taken to be known further than they are:
//            a race may be missed by that, and none is made up.
#pragma once
#include "sim/machine/Instruction.h"
#include <algorithm>
#include <memory>
#include <vector>

namespace tiletwin::sim {

/// Up to which time of a warp the accesses of its lanes are known. Times begin at 1; 0: nothing is known.
struct LaneTimes {
  uint32_t all = 0;  ///< of every lane
  uint32_t some = 0; ///< of `lanes`, later than `all`; 0 if there are none
  LaneMask lanes = 0;

  uint32_t of(int lane) const { return lanes >> lane & 1 ? some : all; }
  bool covers(const LaneTimes& other) const {
    if (all < other.all) return false;
    return !other.lanes || all >= other.some || (!(other.lanes & ~lanes) && some >= other.some);
  }
  void join(const LaneTimes& other);
};

/// Entries by warp. `Clock` may be large: it is copied only to make a new one.
class Clock {
public:
  struct Entry {
    uint32_t warp = 0;
    LaneTimes times;
  };
  /// More entries than that become one that covers everything: the cost of a clock must not grow with the grid for ever.
  static constexpr size_t kMostEntries = 16384;

  LaneTimes of(uint32_t warp) const;
  bool covers(const Clock& other) const;
  void join(const Clock& other);
  void join(uint32_t warp, const LaneTimes& times);
  /// It had more than kMostEntries: nothing is unordered to it any more.
  bool coversAll() const { return coversAll_; }
  const std::vector<Entry>& entries() const { return entries_; }

private:
  void limit();
  std::vector<Entry> entries_; ///< by warp, without gaps
  bool coversAll_ = false;
};

using ClockRef = std::shared_ptr<const Clock>; ///< null: nothing is known

/// What either of them knows; one of the two if it covers the other.
ClockRef joined(const ClockRef& a, const ClockRef& b);

} // namespace tiletwin::sim
