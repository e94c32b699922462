// interp/run/FramePool.h -- frames with their arenas, kept between launches.
// Here:      allocation, reuse and release of arenas; how many frames a launch may have.
// Not here:  what is in an arena (program/Plan.h).
// Invariant: arenas that are kept idle and those a launch uses stay within kArenaBudget, unless one frame alone is
// larger.
#pragma once
#include "interp/run/Frame.h"
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
  size_t idleBytes() const;

private:
  struct Pooled;
  void trim(size_t keep); // under mutex_
  mutable std::mutex mutex_;
  Pooled* idle_ = nullptr; // under mutex_
  size_t idleBytes_ = 0;   // under mutex_
};

} // namespace tiletwin::interp
