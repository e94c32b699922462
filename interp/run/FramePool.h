// interp/run/FramePool.h -- frames with their arenas, kept between launches.
// Here:      allocation, reuse and release of arenas; how many frames a launch may have.
// Not here:  what is in an arena (program/Plan.h).
// Idea:      a thread gets the frame back that it had last, without a lock, and what is left of it in its core's cache.
//            Frames beyond one for each thread are in a list.
// Invariant: arenas that are kept idle and those a launch uses stay within kArenaBudget, unless one frame alone is larger.
#pragma once
#include "interp/run/Frame.h"
#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>

namespace tiletwin::interp {

class FramePool {
public:
  /// All arenas of one launch together, in bytes.
  static constexpr size_t kArenaBudget = size_t(48) << 20;
  /// Larger arenas go back to the system when their launch ends.
  static constexpr size_t kLargestKept = size_t(32) << 20;

  FramePool() = default;
  ~FramePool(); ///< every frame must have been released
  /// The pool of this process (the child of a fork has its own).
  static FramePool& instance();
  /// Threads a launch with such arenas may use, at least 1.
  static int mostThreads(size_t arenaBytes);

  /// A frame whose arena holds at least `arenaBytes`, 64-byte aligned; contents undefined. Null: no memory.
  Frame* acquire(size_t arenaBytes);
  void release(Frame* frame);
  /// Bytes of idle arenas.
  size_t idleBytes() const { return idleBytes_; }

private:
  struct Pooled;
  struct alignas(64) Home {
    std::atomic<Pooled*> frame{nullptr}; ///< the thread whose home it is puts it there; any thread may take it
  };
  std::atomic<Pooled*>& home(); // this thread's; more threads than homes share them
  void trim(size_t keep);       // under mutex_
  std::mutex mutex_;
  Pooled* idle_ = nullptr;           // under mutex_
  std::atomic<size_t> idleBytes_{0}; // any thread: in the list and in homes
  std::array<Home, 64> homes_;
};

} // namespace tiletwin::interp
