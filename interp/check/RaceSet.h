// interp/check/RaceSet.h -- data races of launches whose programs are not ordered by synchronisation.
//
// Here:      for each byte the two lowest programs that wrote it and the two lowest that read it, plainly and atomically;
//            which of them conflict.
// Not here:  programs that order each other through atomics (RaceOrder.h), texts (MemoryCheck.cpp).
// Idea:      without synchronisation two accesses of different programs to one byte, at least one of them a write and not
//            both atomic, are a race whatever the order in which they came. Two lowest programs of each kind are enough to
//            tell whether there are two different ones, and they do not depend on that order either: programs may run on any
//            number of threads, and the findings are the same.
// Invariant: what cells hold only ever gets lower, so a read that changed nothing once never will.
#pragma once
#include "interp/check/ShadowMap.h"
#include <array>
#include <deque>

namespace tiletwin::interp {

/// How an access takes part in races. Atomic accesses of too small a scope are plain here.
enum class RaceKind : uint8_t { Read, Write, AtomicRead, AtomicWrite };

/// A program and a place in its code, in one word that orders by program.
struct RaceStamp {
  static constexpr uint64_t kNobody = ~uint64_t(0);
  static constexpr unsigned kSiteBits = 20;
  uint64_t bits = kNobody;
  static RaceStamp of(uint64_t program, uint32_t site) { return {program << kSiteBits | site}; }
  uint64_t program() const { return bits >> kSiteBits; }
  uint32_t site() const { return uint32_t(bits & ((1u << kSiteBits) - 1)); }
  bool someone() const { return bits != kNobody; }
};

/// Two accesses that race. If both write, `first` is the lower program; else `first` writes.
struct RacePair {
  RaceStamp first, second;
  RaceKind firstKind = RaceKind::Write, secondKind = RaceKind::Write;
  bool sameValue = false;       ///< all writes left the same bytes
  uintptr_t begin = 0, end = 0; ///< bytes of one cell
};

class RaceSet {
public:
  struct Cell {
    uint64_t lowest[2][2] = {{~uint64_t(0), ~uint64_t(0)}, {~uint64_t(0), ~uint64_t(0)}}; ///< reads, writes: plain ones
    uint32_t atomics = 0; ///< number of atomic_'s entry, plus 1; 0: none
    uint32_t hash = 0;    ///< of the bytes that writes left; 0: nobody wrote, 1: they differ, or nobody looked
  };
  using Map = ShadowMap<Cell>;

  Map& map() { return map_; }
  /// Memory [lo, hi) was accessed; what was written is there. Any thread.
  void access(Map::Region& region, uintptr_t lo, uintptr_t hi, RaceKind kind, RaceStamp by);
  /// After the launch: visit(pair) for each cell in which programs race, once for each two kinds of access that do.
  template <class Visit> void races(Visit&& visit) {
    for (Map::Block* block : listed_)
      Map::visit(*map_.regionOf(*block), *block, [&](const Cell& cell, uintptr_t begin, uintptr_t end) {
        conflicts(cell, [&](RacePair pair) {
          pair.begin = begin;
          pair.end = end;
          visit(pair);
        });
      });
  }

private:
  static constexpr uint64_t kNobody = RaceStamp::kNobody;
  struct Atomics {
    uint64_t lowest[2][2]; ///< reads, writes
  };
  static void enter(uint64_t (&lowest)[2], uint64_t stamp);
  /// visit(pair), without bytes, for each two kinds of access that race in a cell.
  template <class Visit> void conflicts(const Cell& cell, Visit&& visit) const {
    const auto& reads = cell.lowest[0];
    const auto& writes = cell.lowest[1];
    Atomics none{{{kNobody, kNobody}, {kNobody, kNobody}}};
    const Atomics& atomics = cell.atomics ? atomicsOf(cell) : none;
    const struct {
      const uint64_t (&first)[2], (&second)[2];
      RaceKind firstKind, secondKind;
    } kRows[] = {{writes, writes, RaceKind::Write, RaceKind::Write},
                 {writes, reads, RaceKind::Write, RaceKind::Read},
                 {writes, atomics.lowest[1], RaceKind::Write, RaceKind::AtomicWrite},
                 {writes, atomics.lowest[0], RaceKind::Write, RaceKind::AtomicRead},
                 {atomics.lowest[1], reads, RaceKind::AtomicWrite, RaceKind::Read}};
    for (const auto& row : kRows) {
      RacePair pair;
      if (!differ(row.first, row.second, pair.first.bits, pair.second.bits)) continue;
      pair.firstKind = row.firstKind;
      pair.secondKind = row.secondKind;
      pair.sameValue = row.secondKind == RaceKind::Write && cell.hash > 1;
      visit(pair);
    }
  }
  static bool differ(const uint64_t (&a)[2], const uint64_t (&b)[2], uint64_t& first, uint64_t& second);
  const Atomics& atomicsOf(const Cell& cell) const;
  void accessAtomic(Cell& cell, bool writes, uint64_t stamp);
  uint32_t newAtomics(const Atomics& from);

  Map map_;
  mutable std::mutex mutex_;
  std::vector<Map::Block*> listed_; ///< blocks with a conflict; under mutex_
  std::deque<Atomics> atomics_;     ///< entries: under the lock of their cell's block; the list: under mutex_
};

} // namespace tiletwin::interp
