// interp/check/RaceSet.cpp -- see RaceSet.h.
#include "interp/check/RaceSet.h"
#include <cstring>

namespace tiletwin::interp {

namespace {

uint64_t relaxed(const uint64_t& word) { return __atomic_load_n(&word, __ATOMIC_RELAXED); }
void put(uint64_t& word, uint64_t value) { __atomic_store_n(&word, value, __ATOMIC_RELAXED); }
bool sameProgram(uint64_t a, uint64_t b) { return a >> RaceStamp::kSiteBits == b >> RaceStamp::kSiteBits; }

/// What a cell's bytes hold; at least 2. Four sums side by side: one would wait for itself at every word.
uint32_t hashOf(uintptr_t begin, uintptr_t end) {
  constexpr uint64_t kFactor = 0xD6E8FEB86659FD93;
  uint64_t sums[4] = {0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x2545F4914F6CDD1D};
  auto add = [](uint64_t& sum, uint64_t word) {
    sum = (sum ^ word) * kFactor;
    sum ^= sum >> 32;
  };
  uintptr_t at = begin;
  for (; at + 32 <= end; at += 32)
    for (int lane = 0; lane < 4; ++lane) {
      uint64_t word;
      std::memcpy(&word, reinterpret_cast<const void*>(at + uintptr_t(lane) * 8), 8);
      add(sums[lane], word);
    }
  for (; at < end; ++at) add(sums[0], *reinterpret_cast<const uint8_t*>(at));
  for (int lane = 1; lane < 4; ++lane) add(sums[0], sums[lane]);
  return uint32_t(sums[0] >> 32) | 2;
}

/// Stores to such large regions bypass the cache: reading them again would cost more than everything else.
constexpr uintptr_t kLargeRegion = uintptr_t(32) << 20;

/// Quick: nobody, or one program only, has accessed the cell plainly, and nobody atomically; or nobody has written it.
bool isOnePrograms(const RaceSet::Cell& cell) {
  if (cell.atomics) return false;
  const auto& reads = cell.lowest[0];
  const auto& writes = cell.lowest[1];
  if (writes[0] == RaceStamp::kNobody) return true;
  return writes[1] == RaceStamp::kNobody && reads[1] == RaceStamp::kNobody &&
         (reads[0] == RaceStamp::kNobody || sameProgram(reads[0], writes[0]));
}

} // namespace

/// Of the two programs of `a` and the two of `b`: a lowest pair of different ones.
bool RaceSet::differ(const uint64_t (&a)[2], const uint64_t (&b)[2], uint64_t& first, uint64_t& second) {
  if (a[0] == kNobody || b[0] == kNobody) return false;
  if (!sameProgram(a[0], b[0])) {
    first = a[0];
    second = b[0];
    return true;
  }
  if (b[1] != kNobody && (a[1] == kNobody || b[1] <= a[1])) {
    first = a[0];
    second = b[1];
    return true;
  }
  if (a[1] == kNobody) return false;
  first = a[1];
  second = b[0];
  return true;
}

const RaceSet::Atomics& RaceSet::atomicsOf(const Cell& cell) const {
  std::lock_guard lock(mutex_);
  return atomics_[cell.atomics - 1];
}

void RaceSet::enter(uint64_t (&lowest)[2], uint64_t stamp) {
  const uint64_t first = lowest[0], second = lowest[1];
  if (first == kNobody || sameProgram(first, stamp)) {
    if (stamp < first) put(lowest[0], stamp);
  } else if (stamp < first) {
    put(lowest[1], first);
    put(lowest[0], stamp);
  } else if (stamp < second) {
    put(lowest[1], stamp);
  }
}

uint32_t RaceSet::newAtomics(const Atomics& from) {
  std::lock_guard lock(mutex_);
  atomics_.push_back(from);
  return uint32_t(atomics_.size());
}

void RaceSet::accessAtomic(Cell& cell, bool writes, uint64_t stamp) {
  if (!cell.atomics) cell.atomics = newAtomics({{{kNobody, kNobody}, {kNobody, kNobody}}});
  enter(const_cast<Atomics&>(atomicsOf(cell)).lowest[writes], stamp); // under its block's lock
}

void RaceSet::access(Map::Region& region, uintptr_t lo, uintptr_t hi, RaceKind kind, RaceStamp by) {
  const uint64_t stamp = by.bits;
  const bool isWrite = kind == RaceKind::Write || kind == RaceKind::AtomicWrite;
  const bool isAtomic = kind == RaceKind::AtomicRead || kind == RaceKind::AtomicWrite;
  const bool isLarge = region.end - region.begin >= kLargeRegion;
  auto settled = [&](const Cell& cell) {
    if (kind != RaceKind::Read) return false;
    const uint64_t first = relaxed(cell.lowest[0][0]), second = relaxed(cell.lowest[0][1]);
    return second <= stamp || (sameProgram(first, stamp) && first <= stamp);
  };
  auto split = [&](const Cell& cell) {
    Cell copy = cell;
    if (copy.hash) copy.hash = 1; // what a part of the bytes was is not known any more
    if (copy.atomics) copy.atomics = newAtomics(Atomics(atomicsOf(cell)));
    return copy;
  };
  auto apply = [&](Map::Block& block, Cell& cell, uintptr_t begin, uintptr_t end) {
    if (isAtomic) {
      accessAtomic(cell, isWrite, stamp);
    } else {
      enter(cell.lowest[isWrite], stamp);
      if (isWrite) {
        const uint32_t hash = isLarge ? 1 : hashOf(begin, end);
        cell.hash = cell.hash == 0 || cell.hash == hash ? hash : 1;
      }
    }
    if (block.listed) return;
    if (isOnePrograms(cell)) [[likely]]
      return;
    bool any = false;
    conflicts(cell, [&](const RacePair&) { any = true; });
    if (!any) return;
    block.listed = 1;
    std::lock_guard lock(mutex_);
    listed_.push_back(&block);
  };
  map_.update(region, lo, hi, settled, apply, split);
}

} // namespace tiletwin::interp
