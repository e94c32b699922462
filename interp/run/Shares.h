// interp/run/Shares.h -- the positions of a launch in parts, one for each thread.
// Here:      whose part is whose, taking chunks of them.
// Not here:  what is done with a position, traps and interruption (Scheduler.cpp).
// Idea:      a thread begins with the same part in every launch, so that it finds in its core's cache what it had there in the
//            launch before. Whoever has finished takes chunks from the parts of others. A counter of each part's own is also
//            cheaper than one for all: 16 cores that add to one word wait for each other.
// Invariant: each position is handed out once, and the positions of a part in ascending order.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace tiletwin::interp {

class Shares {
public:
  static constexpr int kMost = 64; ///< more threads begin with parts of others

  /// Positions [0, count) for so many threads, at least 1.
  Shares(int64_t count, int threads) : parts_(std::clamp(threads, 1, kMost)) {
    for (int i = 0; i < parts_; ++i) {
      Part& part = part_[size_t(i)];
      part.next.store(count / parts_ * i + std::min<int64_t>(i, count % parts_), std::memory_order_relaxed);
      if (i > 0) part_[size_t(i) - 1].end = part.next.load(std::memory_order_relaxed);
    }
    part_[size_t(parts_) - 1].end = count;
  }

  /// The part with which the calling thread begins: the one it had in the last launch, unless another thread has it.
  int home() {
    static std::atomic<unsigned> threads{0};
    static thread_local const unsigned number = threads.fetch_add(1, std::memory_order_relaxed);
    const int first = int(number % unsigned(parts_));
    for (int i = 0; i < parts_; ++i)
      if (const int part = (first + i) % parts_;
          !part_[size_t(part)].hasOwner.exchange(true, std::memory_order_relaxed))
        return part;
    return first;
  }

  /// Takes `least` to `most` positions from `part`, or from the first part behind it that has some which are wanted; `part` is set to
  /// that. `cancelled`: whether a position and those above it are not wanted. False: there are none left.
  template <class Cancelled>
  bool claim(int& part, int64_t least, int64_t most, const Cancelled& cancelled, int64_t& begin, int64_t& end) {
    for (int tried = 0; tried < parts_; ++tried, part = part + 1 == parts_ ? 0 : part + 1) {
      Part& p = part_[size_t(part)];
      const int64_t next = p.next.load(std::memory_order_relaxed);
      if (next >= p.end || cancelled(next)) continue;
      // Chunks get smaller, so that something is left to take when others have finished.
      const int64_t chunk = std::clamp<int64_t>((p.end - next) / 8, least, most);
      begin = p.next.fetch_add(chunk, std::memory_order_relaxed);
      end = std::min(begin + chunk, p.end);
      if (begin < end) return true;
    }
    return false;
  }

  /// Positions of `part` have been run or skipped.
  void finish(int part, int64_t positions) { part_[size_t(part)].done.fetch_add(positions, std::memory_order_relaxed); }
  int64_t finished() const {
    int64_t sum = 0;
    for (int i = 0; i < parts_; ++i) sum += part_[size_t(i)].done.load(std::memory_order_relaxed);
    return sum;
  }

private:
  struct alignas(64) Part {
    std::atomic<int64_t> next; ///< any thread
    int64_t end;
    std::atomic<int64_t> done{0};      ///< any thread
    std::atomic<bool> hasOwner{false}; ///< any thread
  };
  const int parts_;
  std::array<Part, kMost> part_;
};

} // namespace tiletwin::interp
