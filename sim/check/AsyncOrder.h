// sim/check/AsyncOrder.h -- asynchronous operations as threads of their own: who may rely on their end.
//
// Here:      AsyncAgents (numbers that stand for operations where those of warps stand), AsyncOrder (what is committed and waited for).
// Not here:  what operations access (RaceCheck.cpp), mbarriers' phases (WarpOrder.h).
// Idea:      an operation comes behind all that its issuer knew when it issued it, and in front of whatever knows its end. Its
//            accesses are therefore looked at when it is issued, with what the issuer knows, and remembered as those of
//            an agent: nobody knows of them until somebody has waited. When it lands does not matter.
//            Operations that complete in groups: one agent for each warp and kind, whose lanes are the issuing threads; who knows
//            what the thread did when it had waited knows the end, too; of cp.async and tcgen05 an mbarrier may hear all that a
//            thread has issued. Operations that an mbarrier hears of from the beginning: one agent for
//            each mbarrier, whose time goes on with the phase; the phase hands it on as it does with arrivals.
// Invariant: used by the one thread that runs the cluster.
#pragma once
#include "sim/machine/Cta.h"
#include "sim/machine/Observer.h"
#include <array>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tiletwin::sim {

/// Numbers behind those of all warps of a grid.
class AsyncAgents {
public:
  enum class Kind : uint8_t { Copies, Bulk, Products, TensorWork, Mbarrier };
  /// Operations of a CTA's further mbarriers are not followed.
  static constexpr uint64_t kMostMbarriers = 64;

  /// `hasAsync`: there are any.
  AsyncAgents(uint64_t ctas, uint64_t warpsOfCta, bool hasAsync)
      : first_(ctas * warpsOfCta), warps_(warpsOfCta), perCta_(kGroups * warpsOfCta + kMostMbarriers),
        end_(first_ + (hasAsync ? ctas * perCta_ : 0)) {}
  /// Numbers of warps and agents are below that.
  uint64_t end() const { return end_; }
  bool has(uint64_t number) const { return number >= first_; }
  uint32_t ofGroups(uint64_t cta, uint32_t warp, AsyncGroups groups) const {
    return uint32_t(first_ + cta * perCta_ + uint64_t(groups) * warps_ + warp);
  }
  uint32_t ofMbarrier(uint64_t cta, uint64_t which) const {
    return uint32_t(first_ + cta * perCta_ + kGroups * warps_ + which);
  }
  uint64_t cta(uint64_t number) const { return (number - first_) / perCta_; }
  Kind kind(uint64_t number) const { return Kind(std::min<uint64_t>(inCta(number) / warps_, kGroups)); }
  /// In its CTA; not of an mbarrier.
  uint32_t warp(uint64_t number) const { return uint32_t(inCta(number) % warps_); }

private:
  static constexpr uint64_t kGroups = 4;
  uint64_t inCta(uint64_t number) const { return (number - first_) % perCta_; }
  uint64_t first_, warps_, perCta_, end_;
};

/// Of one cluster.
class AsyncOrder {
public:
  /// `latest`: times do not go beyond it; operations after it look as if they were waited for.
  AsyncOrder(const Cluster& cluster, uint64_t warpsOfCta, uint32_t latest);

  /// The time of what a thread issues now.
  uint32_t time(const Warp& warp, int lane, AsyncGroups groups) { return thread(warp, lane, groups).now; }
  void commits(const Warp& warp, int lane, AsyncGroups groups);
  /// It has waited for all groups but the newest `pending`; `now`: the warp's time.
  void waited(const Warp& warp, int lane, AsyncGroups groups, uint64_t pending, uint32_t now);
  /// The warp's time when the thread had waited for what it issued at `time`; 0: it has not.
  uint32_t doneAt(uint32_t rank, uint32_t warp, int lane, AsyncGroups groups, uint32_t time) const;
  /// An mbarrier hears of what the thread has issued so far; returns the time of that.
  uint32_t handsOn(const Warp& warp, int lane, AsyncGroups groups);

  struct Mbarrier {
    uint32_t number = 0; ///< of the agent
    uint32_t time = 1;   ///< of what is issued in the phase that runs
  };
  /// The agent of an mbarrier of a CTA; null: it is one too many.
  Mbarrier* mbarrier(const AsyncAgents& agents, const Cta& owner, uint64_t ctaNumber, const void* object);
  /// Null: no operation has ever signalled it.
  Mbarrier* find(const void* object);
  void phaseEnds(Mbarrier& agent) { agent.time += agent.time < latest_; }

private:
  struct Wait {
    uint32_t upTo = 0; ///< operations of this time and earlier are done ...
    uint32_t at = 0;   ///< ... at this time of the warp
  };
  /// What a thread does in groups of one kind.
  struct Thread {
    uint32_t now = 1;
    std::vector<uint32_t> committed; ///< group by group: the time of its operations
    std::vector<Wait> waits;         ///< in order
  };
  struct WarpThreads {
    std::array<std::vector<Thread>, 4> of; ///< by groups and lane; empty: never used
  };
  Thread& thread(const Warp& warp, int lane, AsyncGroups groups);

  uint64_t warpsOfCta_;
  uint32_t latest_;
  std::vector<WarpThreads> warps_; ///< CTA by CTA
  std::unordered_map<const void*, std::optional<Mbarrier>> mbarriers_;
  std::vector<uint64_t> mbarriersOf_; ///< agents so far, by rank
};

} // namespace tiletwin::sim
