// interp/check/RaceOrder.h -- data races of launches whose programs order each other through atomics.
//
// Here:      what happened before what: segments of programs and the edges that acquire and release operations draw between
//            them; for each byte the last write, and the reads and atomic accesses since.
// Not here:  launches without such operations (RaceSet.h), what counts as such (plan/ProbeAccess.cpp).
// Idea:      programs run one at a time here, so that an atomic access and the note of it are one step. A release leaves its
//            segment at the bytes it writes; read-modify-writes of any order hand it on; an acquire that finds one there
//            begins a segment behind it. Whether one segment lies before another is looked up in this graph only when two
//            accesses would race if it did not: nearly always the way is short.
// Invariant: one thread at a time. Edges lead to lower numbers.
#pragma once
#include "interp/check/RaceSet.h"
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace tiletwin::interp {

/// What an atomic operation does for the order of programs. Of too small a scope: neither.
struct RaceSync {
  bool acquires = false, releases = false;
  bool isRmw = false; ///< false: a store (it ends the release that was there) or a load
};

class RaceOrder {
public:
  struct Cell {
    uint32_t writer = 0, writerSite = 0;                   ///< segment of the last plain write; 0: none
    uint32_t reads = 0, atomicReads = 0, atomicWrites = 0; ///< lists_, since then; 0: none
    uint32_t release = 0;                                  ///< what an acquire of these bytes comes after
    uint32_t hash = 0;                                     ///< of what plain writes left; 1: they differ
  };
  using Map = ShadowMap<Cell>;

  RaceOrder();
  Map& map() { return map_; }
  /// Memory [lo, hi) was accessed plainly, or atomically as one lane of the operation at hand; what was written is there.
  void access(Map::Region& region, uintptr_t lo, uintptr_t hi, RaceKind kind, RaceStamp by);
  /// After access() of all lanes of an atomic operation: looks for releases in each (acquire), ...
  void acquire(Map::Region& region, uintptr_t lo, uintptr_t hi);
  /// ... begins the segment behind those it found, ...
  void acquired(uint64_t program);
  /// ... leaves its own in each lane that wrote, ...
  void release(Map::Region& region, uintptr_t lo, uintptr_t hi, RaceSync sync, uint64_t program);
  /// ... and begins another segment.
  void released(uint64_t program);

  /// The lowest pair of programs for each pair of places.
  template <class Visit> void races(Visit&& visit) {
    for (const auto& [key, pair] : races_) visit(pair);
  }

private:
  struct Segment {
    uint64_t program = 0;
    uint32_t before[2] = {0, 0};
    uint32_t more = 0; ///< number of more_'s entry, plus 1
  };
  struct Access {
    uint32_t segment, site;
  };
  uint32_t newSegment(uint64_t program, uint32_t before, uint32_t other = 0);
  uint32_t& current(uint64_t program);
  bool isBefore(uint32_t earlier, uint32_t later);
  bool search(uint32_t earlier, uint32_t later);
  void report(const Access& earlier, RaceKind earlierKind, RaceStamp by, RaceKind kind, bool sameValue, uintptr_t begin,
              uintptr_t end);
  void note(uint32_t& list, uint32_t segment, uint32_t site);
  uint32_t copyOf(uint32_t list);
  Cell split(const Cell& cell);

  Map map_;
  std::vector<Segment> segments_;           ///< [0] is no segment
  std::vector<std::vector<uint32_t>> more_; ///< further segments before one
  std::vector<std::vector<Access>> lists_;  ///< [0] is no list
  std::unordered_map<uint64_t, uint32_t> current_;
  std::vector<uint32_t> found_;                    ///< releases that the acquire at hand has found
  uint32_t reachedFrom_ = 0;                       ///< segment for which reached_ holds
  std::unordered_map<uint64_t, uint32_t> reached_; ///< last segment before it, by program
  std::vector<uint32_t> seen_;                     ///< marks of searches, by segment
  uint32_t mark_ = 0;
  std::map<std::tuple<uint32_t, RaceKind, uint32_t, RaceKind>, RacePair> races_;
};

} // namespace tiletwin::interp
