// sim/machine/Cta.h -- a CTA and its cluster while they run: shared memory, barriers, their warps.
// Not here:  scheduling (Cluster.cpp), a grid's clusters on threads (Launch.cpp).
#pragma once
#include "sim/Sim.h"
#include "sim/machine/AddressMap.h"
#include "sim/machine/Random.h"
#include "sim/machine/Warp.h"
#include <atomic>
#include <deque>
#include <mutex>

namespace tiletwin::sim {

class Program;
struct Cluster;
class DeviceHeap;     // isa/DeviceHeap.h: what malloc gives
class FramePool;      // Fragments.h
class TensorMemory;   // isa/TensorMemory.h: of tcgen05
struct CtaAsync;      // isa/Async.h: mbarriers and bulk copies on their way
struct PrintedText;   // isa/Builtins.cpp: what it has printed
class Observer;       // Observer.h: checks look on
class TurnKeeper;     // Observer.h
struct CtaWritten;    // check/UninitializedCheck.cpp: which bytes of its memory have been written
struct ClusterCounts; // counters/Counting.cpp: what its instructions did
struct ClusterRaces;  // check/RaceCheck.cpp: who has accessed what, and what comes before what

/// Everything one launch's clusters share. Const but for what is atomic or under `mutex`.
struct Grid {
  const Program* program = nullptr;
  const LaunchParams* params = nullptr;
  std::vector<std::byte> parameters;
  AddressMap addresses;
  DeviceHeap* heap = nullptr; ///< never null where a kernel calls malloc or free
  Schedule schedule;
  std::vector<Observer*> observers; ///< empty nearly always: nothing is told then
  TurnKeeper* keeper = nullptr;     ///< null nearly always
  std::atomic<bool> stop{false};    ///< a trap, or the user
  std::atomic<uint64_t> instructions{0};
  uint64_t printed = 0; ///< bytes of records that vprintf wrote; under mutex
  std::mutex mutex;
  Trap trap; ///< of the lowest CTA that trapped; under mutex
};

/// What one warp has done at a barrier in the phase that runs: the lanes that have come, and those of them that wait.
struct BarrierArrival {
  Warp* warp = nullptr;
  LaneMask arrived = 0, asleep = 0;
  const Inst* at = nullptr; ///< the instruction of the last lanes that have come
};
/// Lanes of a warp at an aligned barrier that other lanes of the warp have not come to.
struct PartedBarrier {
  Warp* warp = nullptr;
  const Inst* at = nullptr;
  LaneMask lanes = 0;
  LaneMask leaving = 0; ///< lanes that did nothing but exit when the first ones came
};
/// The result of bar.red for lanes that have not picked it up yet.
struct BarrierResult {
  Warp* warp = nullptr;
  LaneMask lanes = 0;
  uint32_t count = 0; ///< threads whose predicate was true
  bool all = false, any = false;
};
/// One of a CTA's 16 barriers (bar, barrier); isa/Barrier.cpp.
struct Barrier {
  uint32_t expected = 0; ///< threads; 0: all of the CTA's that have not exited
  uint32_t count = 0;    ///< bar.red so far: threads whose predicate is true, and whether all and any are
  bool all = true, any = false, reduces = false;
  std::vector<BarrierArrival> arrivals; ///< empty: nobody has come in this phase
  std::vector<BarrierResult> results;
};

struct Cta {
  Cluster* cluster = nullptr;
  uint32_t rank = 0;             ///< in the cluster
  std::array<uint32_t, 3> id{};  ///< %ctaid
  std::vector<std::byte> shared; ///< static, then dynamic
  std::vector<std::byte> local;  ///< thread by thread
  uint64_t localBytes = 0;       ///< of one thread
  std::array<Barrier, 16> barriers;
  std::vector<PartedBarrier> parted; ///< for the check of barriers
  std::deque<Warp> warps;            ///< a warp does not move
  uint32_t threads = 0;
  uint32_t liveThreads = 0;
  uint32_t freeRegisters = 0; ///< that setmaxnreg.dec has given back and no setmaxnreg.inc has taken
  std::shared_ptr<CtaAsync> async;
  std::shared_ptr<TensorMemory> tensor; ///< made by the first instruction that needs it
  std::shared_ptr<PrintedText> printed; ///< handed on when the CTA is gone
  std::shared_ptr<CtaWritten> written;  ///< only if uninitialised reads are looked for
  /// Set by the first instruction that wants to know: lanes of a warp have exited (liveThreads is down already) ...
  void (*onExit)(Cta& cta, Warp& warp, LaneMask lanes) = nullptr;
  /// ... and all threads of the CTA have; what is on its way lands now.
  void (*onEnd)(Cta& cta) = nullptr;
};

/// Of operations that land when they are waited for.
inline constexpr uint64_t kNeverDue = ~uint64_t(0);

struct Cluster {
  Grid* grid = nullptr;
  std::array<uint32_t, 3> id{};
  std::deque<Cta> ctas;
  uint32_t arrived = 0; ///< barrier.cluster: live threads that have come in this phase
  /// ... warp by warp, CTA by CTA (empty before the first): lanes that have come in this phase, that came in the one before and
  /// have not waited yet, and that sleep.
  struct Arrival {
    Warp* warp = nullptr;
    LaneMask arrived = 0, released = 0, asleep = 0;
  };
  std::vector<Arrival> arrivals;
  uint64_t linear = 0;      ///< number in the grid
  uint32_t liveThreads = 0; ///< of all its CTAs
  std::shared_ptr<FramePool> frames;
  std::optional<Random> random; ///< what decides where the schedule has a seed
  uint64_t turn = 0;            ///< turns of warps so far that were drawn
  uint64_t nextDue = kNeverDue; ///< the turn at which a copy or a product lands that nobody has waited for
  /// Set with nextDue: lands what is due, and finds nextDue.
  void (*landDue)(Cluster& cluster) = nullptr;
  std::shared_ptr<ClusterRaces> races;   ///< only if races are looked for
  std::shared_ptr<ClusterCounts> counts; ///< only if instructions are counted
};

/// The place of number `linear` in a box, x first.
inline std::array<uint32_t, 3> unravel(uint64_t linear, const std::array<uint32_t, 3>& extents) {
  return {uint32_t(linear % extents[0]), uint32_t(linear / extents[0] % extents[1]),
          uint32_t(linear / extents[0] / extents[1])};
}

} // namespace tiletwin::sim
