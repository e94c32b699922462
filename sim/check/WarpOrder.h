// sim/check/WarpOrder.h -- which accesses come before which: the clocks of a warp's threads, and what they synchronise on.
//
// Here:      WarpOrder (one warp), SyncPlaces (memory that atomics and ordered accesses synchronise on), SyncPhases (barriers).
// Not here:  clocks themselves (Clock.h), accesses and their races (RaceCheck.h).
// Source:    "PTX ISA", NVIDIA, section "Memory Consistency Model": release and acquire patterns, synchronizes-with, causality order.
// Idea:      happens-before, as race detectors compute it. A release hands on what the thread knows and what it has done itself; an
//            acquire takes what was handed on at the same place. A fence makes both of the accesses around it: writes behind it
//            hand on what was known at the fence, and what reads in front of it have found is known behind it.
//            Threads are asked for by lane, but a warp's lanes share their clock until they synchronise alone.
// Invariant: order is never forgotten, only taken to be more than it is (what a place has handed on once, it hands on for ever; see
//            Clock.h), so that what is reported has no order.
#pragma once
#include "sim/check/Clock.h"
#include "sim/machine/Memory.h"
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace tiletwin::sim {

/// What a release hands on, and to whom: threads of its own CTA, or of the whole grid.
struct Released {
  ClockRef clock; ///< null: nothing
  bool isWide = true;
};

/// What fences make of relaxed accesses, as barriers pass it on: a relaxed write of one thread hands on what others of its CTA knew at
/// their fences, and a relaxed read of one thread is acquired by fences of the others. (Of fence.sc the ISA says so: they have one
/// order, and the accesses between two of them decide it.)
struct FencedClocks {
  ClockRef released;               ///< known at fences of wide scope
  ClockRef foundNarrow, foundWide; ///< by relaxed reads
  explicit operator bool() const { return released || foundNarrow || foundWide; }
  void join(const FencedClocks& other);
};

/// The threads of one warp.
class WarpOrder {
public:
  /// `number` in the grid, `cta` in the grid. Times do not go beyond `latest`: accesses after it look ordered.
  WarpOrder(uint32_t number, uint32_t cta, uint32_t latest) : number_(number), cta_(cta), latest_(latest) {}

  uint32_t number() const { return number_; }
  uint32_t cta() const { return cta_; }
  /// Of accesses that are made now.
  uint32_t time() const { return time_; }
  /// What a lane knows of other threads; of its own it knows everything.
  const Clock* clockOf(int lane) const {
    for (const Group& group : groups_)
      if (group.lanes >> lane & 1) return group.clock.get();
    return nullptr;
  }

  /// What these lanes know and have done. `live`: lanes that have not exited; if that is all of them, what others did that have
  /// exited goes with it.
  ClockRef known(LaneMask lanes, LaneMask live) const;
  /// Adds the same to a clock.
  void addTo(Clock& clock, LaneMask lanes, LaneMask live) const;
  /// Accesses that follow are not among those that were handed on.
  void tick() { time_ += time_ < latest_; }
  void acquire(LaneMask lanes, const ClockRef& clock);

  /// membar and fence.
  void fence(LaneMask lanes, bool acquires, bool releases, bool isWide);
  /// What a relaxed write of one lane hands on: what the lane knew at its last fence.
  Released knownAtFence(int lane) const;
  /// A relaxed read of these lanes has found something that their next fence acquires: `narrow` if that has the scope of the CTA.
  void foundByRelaxed(LaneMask lanes, const ClockRef& narrow, const ClockRef& wide);
  /// What these lanes pass on at a barrier, and get there.
  FencedClocks fenced(LaneMask lanes) const;
  void inherit(LaneMask lanes, const FencedClocks& clocks);

private:
  /// Lanes that know the same of others.
  struct Group {
    LaneMask lanes = 0;
    ClockRef clock;
  };
  /// Of lanes that have run a fence, or relaxed reads that found something.
  struct Fences {
    std::array<ClockRef, kLanes> known;                  ///< of others, at the last fence
    std::array<uint32_t, kLanes> time{};                 ///< of the last fence; 0: there was none
    std::array<ClockRef, kLanes> foundNarrow, foundWide; ///< by relaxed reads
    std::array<ClockRef, kLanes> inherited;              ///< known at fences of other threads
    LaneMask wide = 0;
  };
  Fences& fences();

  uint32_t number_, cta_, latest_;
  uint32_t time_ = 1;
  std::vector<Group> groups_{{kAllLanes, nullptr}}; ///< every lane is in one
  std::unique_ptr<Fences> fences_;
};

/// Places in memory that threads synchronise on, by host address. Thread-safe.
class SyncPlaces {
public:
  /// Threads that may come at the same time get in each other's way less with more shards.
  explicit SyncPlaces(size_t shards) : count_(shards), shards_(new Shard[shards]) {}
  void release(uint64_t address, const Released& released, uint32_t cta);
  /// What a thread of `cta` finds there; `isWide`: it reads with a scope beyond its CTA.
  ClockRef acquire(uint64_t address, uint32_t cta, bool isWide);

private:
  struct Place {
    ClockRef wide, narrow; ///< narrow: by threads of one CTA, wide ones included
    uint32_t cta = 0;      ///< of `narrow`
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<uint64_t, Place> places; // under mutex
    std::atomic<bool> isUsed{false};
  };
  Shard& shardOf(uint64_t address) { return shards_[(address >> 2 ^ address >> 8) % count_]; }
  size_t count_;
  std::unique_ptr<Shard[]> shards_;
};

/// Barriers and mbarriers of one cluster, by the address of their object.
class SyncPhases {
public:
  void arrive(const void* object, const WarpOrder& warp, LaneMask lanes, LaneMask live);
  void arrive(const void* object, const ClockRef& clock);
  /// `keeps`: those who wait for an earlier phase may come late (mbarriers).
  void end(const void* object, bool keeps);
  struct Ended {
    ClockRef clock;
    FencedClocks fenced;
  };
  Ended ended(const void* object) const;

private:
  struct Phase {
    Clock arrived; ///< in the phase that runs
    FencedClocks fenced;
    bool isEmpty = true;
    Ended ended; ///< in the one before, or all before
  };
  std::unordered_map<const void*, Phase> phases_;
};

} // namespace tiletwin::sim
