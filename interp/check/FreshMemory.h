// interp/check/FreshMemory.h -- memory that nobody has written yet: what torch.empty and numpy.empty made.
//
// Here:      the list of such memory, the pattern it is filled with, a bit for each byte that a kernel has written, and the
//            question which bytes of an access nobody wrote.
// Not here:  who makes such memory (python/tiletwin/fresh_memory.py), findings (MemoryCheck.cpp).
// Idea:      kernels' writes are known byte by byte; writes of torch, NumPy and everything else are not. So the memory is
//            filled with a pattern when it is made, and an element counts as unwritten if no kernel has written any byte of
//            it and it still holds the pattern. Values that are the pattern by chance are seen as unwritten only if at
//            least kLeastBytes neighbouring bytes of one access are: once in 2^32 at most.
// Invariant: a region's extent is fixed; its bits are set by any thread. What is freed is taken off the list first.
#pragma once
#include "runtime/Trap.h"
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tiletwin::interp {

class FreshRegion {
public:
  FreshRegion(uintptr_t begin, uintptr_t end, std::string maker, SourceLocation made);
  uintptr_t begin() const { return begin_; }
  uintptr_t end() const { return end_; }
  const std::string& maker() const { return maker_; } ///< "torch.empty"
  const SourceLocation& made() const { return made_; }

  /// A kernel has written [lo, hi) (clipped to the region).
  void write(uintptr_t lo, uintptr_t hi);
  /// Whether nobody has written any byte of [lo, hi), which is not empty and inside of the region.
  bool isUnwritten(uintptr_t lo, uintptr_t hi) const;
  /// The same for a byte's surroundings: the 8 bytes at a multiple of 8 that hold it, as far as they are in the region.
  bool isUnwrittenAround(uintptr_t address) const;
  /// The same for the element at `lo` as it was before it was overwritten with something else: it held `old`.
  bool wasUnwritten(uintptr_t lo, const void* old, int64_t bytes) const;
  /// Whether kernels have left a byte of [lo, hi), inside of the region, unwritten.
  bool isOpen(uintptr_t lo, uintptr_t hi) const;
  /// False only if no kLeastBytes bytes, and no 2 bytes at a multiple of 2, of [lo, hi), inside of the region, are unwritten:
  /// quick.
  bool maybeUnwritten(uintptr_t lo, uintptr_t hi) const;

private:
  bool isWritten(uintptr_t address) const;
  template <class Visit> bool anyOpen(uintptr_t lo, uintptr_t hi, Visit&& visit) const;

  uintptr_t begin_, end_;
  std::string maker_;
  SourceLocation made_;
  std::unique_ptr<std::atomic<uint64_t>[]> written_; ///< a bit for each byte, from begin_ on
};

class FreshMemory {
public:
  /// Fewer unwritten bytes in a row are not reported: they may hold the pattern by chance.
  static constexpr int64_t kLeastBytes = 4;
  static FreshMemory& instance();
  /// Fills the memory with the pattern and lists it. What was listed in its place is forgotten.
  void add(uintptr_t begin, uintptr_t end, std::string maker, SourceLocation made);
  void remove(uintptr_t begin);
  bool empty() const { return count_.load(std::memory_order_relaxed) == 0; }
  /// The regions that meet [lo, hi), ascending.
  std::vector<std::shared_ptr<FreshRegion>> overlapping(uintptr_t lo, uintptr_t hi) const;

private:
  std::atomic<size_t> count_{0};
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<FreshRegion>> regions_; // by begin, disjoint; under mutex_
};

} // namespace tiletwin::interp
