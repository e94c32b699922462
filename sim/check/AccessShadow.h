// sim/check/AccessShadow.h -- who has accessed which bytes of memory last: what the check of races remembers.
//
// Here:      Stamp (one access, in 64 bits), ShadowCell (the last write and two reads of some bytes), ShadowPage, GlobalShadow.
// Not here:  whether two accesses are a race (RaceCheck.cpp).
// Idea:      a page stands for 1 KiB, with one cell for 4 bytes until somebody accesses less than that: then all of its cells are
//            split, so that a cell always stands for bytes that are accessed together. Pages of global memory are made when they are
//            first touched, and locked one by one.
// Invariant: a stamp is 0 only if there was no such access.
#pragma once
#include "sim/machine/AddressMap.h"
#include "sim/machine/Memory.h"
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

namespace tiletwin::sim {

using Stamp = uint64_t;

/// How an access takes part in synchronisation.
enum class Strength : uint8_t {
  Weak,   ///< a plain access
  Narrow, ///< atomic, volatile, relaxed and stronger, with the scope of its CTA
  Wide,   ///< with a wider one
};

/// From the highest bit: time of the warp, number of the warp, place in the program, lane, strength. The widths fit the launch.
class StampLayout {
public:
  StampLayout(uint64_t warps, uint64_t places)
      : placeBits_(unsigned(std::bit_width(places))), warpBits_(unsigned(std::bit_width(warps))) {}

  Stamp make(uint32_t time, uint32_t warp, uint32_t place, Strength strength) const {
    return ((uint64_t(time) << warpBits_ | warp) << placeBits_ | place) << kLowBits | uint64_t(strength);
  }
  static Stamp withLane(Stamp stamp, int lane) { return stamp | uint64_t(lane) << kStrengthBits; }
  static Strength strength(Stamp stamp) { return Strength(stamp & ((1 << kStrengthBits) - 1)); }
  static int lane(Stamp stamp) { return int(stamp >> kStrengthBits & (kLanes - 1)); }
  uint32_t place(Stamp stamp) const { return uint32_t(stamp >> kLowBits & ((uint64_t(1) << placeBits_) - 1)); }
  uint32_t warp(Stamp stamp) const {
    return uint32_t(stamp >> (kLowBits + placeBits_) & ((uint64_t(1) << warpBits_) - 1));
  }
  uint32_t time(Stamp stamp) const { return uint32_t(stamp >> (kLowBits + placeBits_ + warpBits_)); }
  /// Of one thread, and no release between them?
  bool isSameMoment(Stamp a, Stamp b) const {
    return a >> (kLowBits + placeBits_) == b >> (kLowBits + placeBits_) && lane(a) == lane(b);
  }
  /// The latest time that fits.
  uint32_t latest() const {
    const unsigned bits = std::min(64 - kLowBits - placeBits_ - warpBits_, 32u);
    return bits == 32 ? UINT32_MAX : (uint32_t(1) << bits) - 1;
  }
  /// Does a launch of so many warps leave room for times?
  bool fits() const { return kLowBits + placeBits_ + warpBits_ + kLeastTimeBits <= 64; }

private:
  static constexpr unsigned kStrengthBits = 2, kLowBits = 7, kLeastTimeBits = 12;
  unsigned placeBits_, warpBits_;
};

struct ShadowCell {
  Stamp write = 0;
  Stamp reads[2] = {0, 0}; ///< since then, by threads that nothing orders; more than two are not remembered
};

class ShadowPage {
public:
  static constexpr unsigned kShift = 10;
  static constexpr uint64_t kBytes = uint64_t(1) << kShift;

  ShadowPage() : cells_(new ShadowCell[kBytes >> cellShift_]) {}
  /// Calls visit(cell, offset, bytes) for the cells of bytes of this page.
  template <class Visit> void eachCell(uint64_t offset, uint64_t bytes, Visit&& visit) {
    if (const uint64_t odd = offset | bytes; odd & ((uint64_t(1) << cellShift_) - 1)) split(odd & 1 ? 0 : 1);
    const uint64_t end = (offset + bytes) >> cellShift_;
    for (uint64_t i = offset >> cellShift_; i < end; ++i) visit(cells_[i], i << cellShift_, uint64_t(1) << cellShift_);
  }
  /// Nobody has accessed these bytes.
  void forget(uint64_t offset, uint64_t bytes) {
    eachCell(offset, bytes, [](ShadowCell& cell, uint64_t, uint64_t) { cell = {}; });
  }

  void lock() {
    while (isLocked_.exchange(true, std::memory_order_acquire)) __builtin_ia32_pause();
  }
  void unlock() { isLocked_.store(false, std::memory_order_release); }

private:
  void split(unsigned shift);
  std::atomic<bool> isLocked_{false};
  unsigned cellShift_ = 2; ///< log2 of a cell's bytes
  std::unique_ptr<ShadowCell[]> cells_;
};

/// The pages of global memory that a launch may touch. Thread-safe.
class GlobalShadow {
public:
  explicit GlobalShadow(const AddressMap& addresses);
  ~GlobalShadow();
  GlobalShadow(const GlobalShadow&) = delete;
  GlobalShadow& operator=(const GlobalShadow&) = delete;
  /// The page of an address; null if the launch has no memory there. `recent`: a number that is kept for the next call.
  ShadowPage* pageAt(uint64_t address, uint32_t& recent);
  void forget(uint64_t address, uint64_t bytes);

private:
  struct Range {
    uint64_t begin = 0, end = 0; ///< multiples of a page's size
    std::unique_ptr<std::atomic<ShadowPage*>[]> pages;
  };
  std::vector<Range> ranges_; ///< by begin, apart from each other
};

} // namespace tiletwin::sim
