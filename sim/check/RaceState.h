// sim/check/RaceState.h -- the check of races from inside: its class, and what it keeps for each cluster.
// Here:      RaceCheck, ClusterRaces.
// Not here:  what it looks for (RaceCheck.h), accesses (RaceCheck.cpp), synchronisation (RaceSync.cpp), asynchronous operations
//            (AsyncRaces.cpp).
#pragma once
#include "sim/check/AccessShadow.h"
#include "sim/check/AsyncOrder.h"
#include "sim/check/RaceReport.h"
#include "sim/check/WarpOrder.h"
#include "sim/machine/Cta.h"
#include "sim/machine/Fragments.h"
#include "sim/machine/Observer.h"
#include <array>

namespace tiletwin::sim {

/// Strong reads whose place is looked up when the warp does something next: by then what they read has been handed on, also if
/// another thread of the host writes at this moment.
struct PendingReads {
  LaneMask lanes = 0;
  bool acquires = false, isWide = false;
  uint64_t host[kLanes];
  LaneMask shared = 0; ///< whose place is shared memory
};

/// A write over another one that is not ordered to it. It is a race unless it changes nothing, which is seen once it is done:
/// before the cluster accesses memory again.
struct PendingWrite {
  RaceReport race;
  std::array<std::byte, 4> before{};
  uint64_t bytes = 0;
};

struct WarpRaces {
  WarpOrder order;
  PendingReads pending;
  uint32_t recentRange = 0;
};

/// What the check knows of a cluster. Used by the one thread that runs it.
struct ClusterRaces {
  std::vector<WarpRaces> warps;                                 ///< CTA by CTA
  std::vector<std::vector<std::unique_ptr<ShadowPage>>> shared; ///< by rank and offset
  SyncPlaces places{1};                                         ///< in shared memory
  SyncPhases phases;
  RacesSeen seen;
  std::vector<PendingWrite> writes;
  std::unique_ptr<AsyncOrder> async; ///< of kernels that have asynchronous operations
};

/// One instruction's access, while its lanes are looked at.
struct Accessing {
  Warp& warp;
  ClusterRaces& cluster;
  WarpRaces& own;
  const Access& access;
  LaneMask active;
  std::byte* const* host; ///< of each active lane
  uint64_t bytes;         ///< a lane
  Stamp stamp;            ///< without lane
  bool writes;
  bool isDone; ///< the memory may hold what was there before for some time yet: an asynchronous operation
  const Inst* inst;

  // The page that is locked: lanes in a row are in one page nearly always.
  ShadowPage* locked = nullptr;
  // What the last lane that was asked knows of the last warp that was asked for.
  const Clock* clock = nullptr;
  uint32_t clockWarp = UINT32_MAX;
  LaneTimes times{};
  const LaneTimes& known(int lane, uint32_t number) {
    const Clock* of = own.order.clockOf(lane);
    if (of != clock || number != clockWarp) {
      clock = of;
      clockWarp = number;
      times = of ? of->of(number) : LaneTimes();
    }
    return times;
  }

  void lock(ShadowPage* page) {
    if (page == locked) return;
    if (locked) locked->unlock();
    locked = page;
    if (page) page->lock();
  }
};

inline bool isWide(Scope scope) { return scope != Scope::Cta; }

class RaceCheck final : public Observer {
public:
  explicit RaceCheck(Grid& grid)
      : places_(*grid.program), warpsOfCta_(warpsOf(*grid.params)), agents_(agentsOf(grid)),
        layout_(agents_.end(), places_.count()), global_(grid.addresses) {}

  void access(Warp& warp, const Access& access, LaneMask active, const uint64_t* addresses,
              std::byte* const* host) override;
  void block(Warp& warp, const Access& access, int lane, uint64_t address, std::byte* host, uint64_t bytes) override;
  void arrives(Warp& warp, LaneMask lanes, const void* object, Semantics semantics) override;
  void phaseEnds(Cluster& cluster, const void* object) override;
  void waited(Warp& warp, LaneMask lanes, const void* object, Semantics semantics) override;
  void meets(Warp& warp, LaneMask lanes) override;
  void fence(Warp& warp, LaneMask active, Proxy proxy, Semantics semantics, Scope scope) override;
  void issues(Warp& warp, LaneMask lanes, const AsyncUse& use, std::byte* const* at) override;
  void commits(Warp& warp, LaneMask lanes, AsyncGroups groups) override;
  void waitedForGroups(Warp& warp, LaneMask lanes, AsyncGroups groups, uint64_t pending) override;
  void workArrives(Warp& warp, int lane, AsyncGroups groups, const void* mbarrier) override;
  void allocates(std::byte* at, uint64_t bytes) override { global_.forget(reinterpret_cast<uint64_t>(at), bytes); }
  void begins(Cta& cta) override;
  void ends(Cta& cta) override { settle(*cta.cluster->races); }

  static uint64_t warpsOf(const LaunchParams& params) {
    return (uint64_t(params.block[0]) * params.block[1] * params.block[2] + kLanes - 1) / kLanes;
  }
  static uint64_t ctasOf(const LaunchParams& params) {
    return uint64_t(params.grid[0]) * params.grid[1] * params.grid[2];
  }
  static bool fits(const Grid& grid) {
    const uint64_t numbers = agentsOf(grid).end();
    return numbers < UINT32_MAX && StampLayout(numbers, PlaceNumbers(*grid.program).count()).fits();
  }
  static AsyncAgents agentsOf(const Grid& grid) {
    return {ctasOf(*grid.params), warpsOf(*grid.params), grid.program->hasAsync};
  }

private:
  Accessing begin(Warp& warp, const Access& access, LaneMask active, std::byte* const* host, uint64_t bytes);
  WarpRaces& racesOf(Warp& warp) const {
    return warp.cta->cluster->races->warps[warp.cta->rank * warpsOfCta_ + warp.index];
  }
  /// That of the warp, once what is pending has been looked up.
  WarpRaces& settled(Warp& warp);
  void settle(ClusterRaces& cluster) const;
  SyncPlaces& syncPlaces(ClusterRaces& cluster, bool isShared) { return isShared ? cluster.places : sync_; }
  void synchronise(const Accessing& now, const uint64_t* addresses);
  uint64_t numberOf(const Cta& cta) const { return cta.cluster->linear * cta.cluster->ctas.size() + cta.rank; }
  static void endsForAgent(ClusterRaces& cluster, const void* mbarrier);
  void lookAtIssued(Warp& warp, LaneMask lanes, const AsyncUse& use, std::byte* const* at, uint32_t number,
                    uint32_t time);
  bool isDone(Accessing& now, int lane, Stamp other) const;
  /// Of the same agent and thread, whose operations are done in order: who knows of the second one knows of the first.
  bool isLaterOfAgent(Stamp first, Stamp second) const {
    return layout_.warp(first) == layout_.warp(second) && agents_.has(layout_.warp(first)) &&
           StampLayout::lane(first) == StampLayout::lane(second);
  }
  void lookAt(Accessing& now, int lane, uint64_t address, std::byte* host);
  void lookAtShared(Accessing& now, int lane, uint64_t rank, uint64_t offset, std::byte* host, uint64_t bytes);
  void lookAtGlobal(Accessing& now, int lane, std::byte* host, uint64_t bytes);
  void lookAt(Accessing& now, int lane, ShadowCell& cell, std::byte* host, uint64_t bytes);
  bool isFine(Accessing& now, int lane, Stamp other) const;
  bool isOrdered(Accessing& now, int lane, Stamp other) const;
  void conflict(Accessing& now, int lane, Stamp other, bool otherWrote, std::byte* host, uint64_t bytes);

  const PlaceNumbers places_;
  const uint64_t warpsOfCta_;
  const AsyncAgents agents_;
  const StampLayout layout_;
  GlobalShadow global_;
  SyncPlaces sync_{256}; ///< in global memory
};

} // namespace tiletwin::sim
