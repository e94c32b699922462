// sim/machine/Observer.h -- what checks are told while a kernel runs. Nothing is told where nobody looks on.
// Not here:  the checks (check/).
#pragma once
#include "sim/machine/Memory.h"

namespace tiletwin::sim {

struct Cluster;
struct Frame;

/// How the end of an asynchronous operation is waited for, if no mbarrier hears of it: by groups of each thread (of products: of
/// each warp). Of tcgen05 an mbarrier hears later, of all that the thread has issued (workArrives).
enum class AsyncGroups : uint8_t { Copies, Bulk, Products, TensorWork };

/// What asynchronous operations do to shared memory of `owner`.
struct AsyncUse {
  Cta* owner = nullptr;
  AccessKind kind = AccessKind::Write;
  uint64_t bytes = 0; ///< of each lane
  AsyncGroups groups = AsyncGroups::Copies;
  const std::byte* mbarrier = nullptr; ///< that hears of the end; null: none
};

class Observer {
public:
  virtual ~Observer() = default;
  /// An instruction is about to run. Told only if wantsInstructions().
  virtual void instruction(Warp& warp, const Inst& in, LaneMask active) {}
  virtual bool wantsInstructions() const { return false; }
  /// The instruction that was told last has done nothing yet (Step::Retry): it will be told again.
  virtual void retries(Warp& warp, const Inst& in, LaneMask active) {}
  /// The instruction that was told last with lanes `told` has run with `ran`: others have joined them, or some were left behind.
  virtual void regroups(Warp& warp, const Inst& in, LaneMask told, LaneMask ran) {}
  /// Memory is about to be read or written: `host` as resolve() found it.
  virtual void access(Warp& warp, const Access& access, LaneMask active, const uint64_t* addresses,
                      std::byte* const* host) {}
  /// Are the 16-byte units that wgmma reads told as blocks, when a product is queued?
  virtual bool wantsUnits() const { return true; }
  virtual void block(Warp& warp, const Access& access, int lane, uint64_t address, std::byte* host, uint64_t bytes) {}
  /// What `lanes` have done so far comes before what those do that wait for `object`: one of a CTA's barriers, a cluster's
  /// arrivals, an mbarrier's bytes in shared memory. Told before the phase that the arrival belongs to can end. `semantics`:
  /// Release, or Relaxed: then only a fence in front of it orders anything.
  virtual void arrives(Warp& warp, LaneMask lanes, const void* object, Semantics semantics) {}
  /// The object's phase has ended: waiting gives what has arrived until now.
  virtual void phaseEnds(Cluster& cluster, const void* object) {}
  /// Lanes have waited for the object's last phase (they may sleep yet, and will wake up behind the wait). `semantics`: Acquire
  /// or Relaxed.
  virtual void waited(Warp& warp, LaneMask lanes, const void* object, Semantics semantics) {}
  /// bar.warp.sync: these lanes have met.
  virtual void meets(Warp& warp, LaneMask lanes) {}
  /// Bytes of an asynchronous copy have come: `to` is memory of `owner`, or global memory if that is null. `waiter` has waited
  /// for them itself with `lane`; null: an mbarrier has heard of them, or the CTA has ended. `issued` is the copy's instruction.
  virtual void lands(Cta* owner, Warp* waiter, int lane, const Inst& issued, std::byte* to, uint64_t bytes) {}
  /// Lanes issue operations that will use shared memory from `at` on; told before any of them lands. (Of products the units that
  /// they read are told as blocks of the asynchronous proxy.)
  virtual void issues(Warp& warp, LaneMask lanes, const AsyncUse& use, std::byte* const* at) {}
  /// What lanes have issued and not committed is a group now.
  virtual void commits(Warp& warp, LaneMask lanes, AsyncGroups groups) {}
  /// Lanes have waited for their groups, but for the newest `pending` ones.
  virtual void waitedForGroups(Warp& warp, LaneMask lanes, AsyncGroups groups, uint64_t pending) {}
  /// cp.async.mbarrier.arrive, tcgen05.commit: an mbarrier will hear of all that the lane has issued of these so far. arrives()
  /// follows.
  virtual void workArrives(Warp& warp, int lane, AsyncGroups groups, const void* mbarrier) {}
  /// Lanes have entered a function: the frame is made and holds the arguments. Told before its first instruction.
  virtual void enters(Warp& warp, Frame& frame, LaneMask lanes) {}
  /// malloc has given a thread these bytes of the heap.
  virtual void allocates(std::byte* at, uint64_t bytes) {}
  /// fence.proxy.async and its kin; membar and fence.
  virtual void fence(Warp& warp, LaneMask active, Proxy proxy, Semantics semantics, Scope scope) {}
  /// A CTA begins, or has ended.
  virtual void begins(Cta& cta) {}
  virtual void ends(Cta& cta) {}
  /// The launch ends with a trap: `lane` (-1: all of them) of the warp is at fault.
  virtual void traps(Warp& warp, const Trap& trap, int lane) {}
  /// The launch ends since nobody in the cluster can go on, or has run too long.
  virtual void deadlocks(Cluster& cluster, const Trap& trap) {}
};

/// Who may run, if somebody else than the schedule has a say.
class TurnKeeper {
public:
  virtual ~TurnKeeper() = default;
  /// Instructions of a warp's turn, `budget` at the most; 0: it has to wait.
  virtual uint64_t before(Warp& warp, uint64_t budget) = 0;
  /// Whether the warp has to stand in the midst of its turn, in front of an instruction that observers have been told of.
  virtual bool holds(Warp& warp) = 0;
  /// What the turn came to; not told of warps that had to wait.
  virtual void after(Warp& warp, bool ran) = 0;
};

} // namespace tiletwin::sim
