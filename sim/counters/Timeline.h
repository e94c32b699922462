// sim/counters/Timeline.h -- when the instructions of a CTA would run on a multiprocessor: an estimate, while they run.
// Here:      a clock for each register, barrier and group of copies, moved on by what the observer hears.
// Not here:  what an instruction takes of the units (InstructionCost.h), how a launch's time follows (python/tiletwin/counters).
// Idea:      an instruction begins when its operands are there, its unit is free and what ends a block in front of it has begun;
//            inside of a block ptxas puts instructions in a good order, so there the text's order is none. What other warps do
//            is not looked at but for barriers: they are assumed to want the same units at the same time. So there are
//            several clocks, for several numbers of warps that share a scheduler, and for two latencies of global memory.
//            What really happens lies between that of one warp and that of as many as there are.
// Units:     cycles.
#pragma once
#include "sim/counters/InstructionCost.h"
#include "sim/counters/MemoryCost.h"
#include "sim/machine/Observer.h"
#include <array>
#include <deque>
#include <unordered_map>

namespace tiletwin::sim {

/// Warps that share a scheduler, of clocks 0 to 3 and 4 to 7.
inline constexpr std::array<float, 4> kSharing{1, 2, 4, 8};
inline constexpr size_t kClocks = 2 * kSharing.size();
/// Of data that is found in L1, of clocks 0 to 3 in L2, of the others in memory.
inline constexpr float kLatencyL1 = 35, kLatencyL2 = 280, kLatencyMemory = 700;

struct Times {
  alignas(32) std::array<float, kClocks> at{};
};

/// Sums over CTAs.
struct TimelineSums {
  std::array<double, kClocks> cycles{};
  std::array<double, kClocks> longest{}; ///< not a sum: of the CTA that takes longest
  std::array<double, kUnits> busy{};     ///< of all warps; Issue: machine instructions
  /// Warps that work: as many as would be busy as long as the busiest one of the CTA.
  double warps = 0;
  /// Barriers at which warps of one scheduler wait for each other.
  double meetings = 0;
  uint64_t ctas = 0;
  TimelineSums& operator+=(const TimelineSums& other);
};

/// Of the CTAs of a cluster, one cluster after the other.
class Timeline {
public:
  /// costs: of each function of the module.
  explicit Timeline(const std::vector<std::vector<InstructionCost>>& costs) : costs_(costs) {}

  void begins(const Cta& cta);
  void instruction(const Warp& warp, size_t function, size_t at);
  void retries(const Warp& warp, size_t function, size_t at);
  /// The instruction that was told last accesses memory. passes: of the memory's unit. isInL1: of global memory.
  void loads(const Warp& warp, size_t function, size_t at, float passes, bool isGlobal, bool isInL1);
  /// cp.async. sectors: of global memory; missed: of these, those that L1 asks L2 for; passes: of the memory's unit, to write.
  void copies(const Warp& warp, float sectors, float missed, float passes);
  /// A bulk copy. mbarrier: that hears of it, or null.
  void bulk(const Warp& warp, uint64_t bytes, const void* mbarrier);
  void commits(const Warp& warp, AsyncGroups groups);
  void waitedForGroups(const Warp& warp, AsyncGroups groups, uint64_t pending);
  void arrives(const Warp& warp, const void* object);
  void phaseEnds(const void* object);
  void waited(const Warp& warp, const void* object);
  /// Adds the CTAs that have run, and forgets them.
  void end();
  const TimelineSums& sums() const { return sums_; }

private:
  struct Groups {
    Times open;
    std::deque<Times> committed;
  };
  struct WarpTimes {
    Times floor, latest, done;
    float busy = 0; ///< cycles of all units together
    std::array<Times, kUnits> free;
    std::array<Groups, 4> groups;          ///< by AsyncGroups
    std::vector<std::vector<Times>> ready; ///< of each function's registers
  };
  struct Phase {
    Times arriving, ended;
  };
  WarpTimes& of(const Warp& warp);
  /// The unit is taken for so many cycles: gives when it was free, or the warp's block began.
  static Times take(WarpTimes& warp, Unit unit, float cycles);

  const std::vector<std::vector<InstructionCost>>& costs_;
  std::vector<std::vector<WarpTimes>> warps_; ///< by rank of the CTA, by index
  std::unordered_map<const void*, Phase> phases_;
  Times current_; ///< when the instruction that was told last begins
  TimelineSums sums_;
};

} // namespace tiletwin::sim
