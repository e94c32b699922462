// interp/run/Futex.h -- waiting until a word changes: looking at it for a while, sleeping, and waking who sleeps.
// Here:      Linux's futex for words of one process. std::atomic::wait has no time limit.
// Not here:  what a word means (Workers.cpp, OpenMp.cpp).
// Invariant: a thread may wake early, so whoever sleeps looks at its word again.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <immintrin.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tiletwin::interp {

inline int64_t steadyNanoseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

/// Looks until `found()` holds, at most for so long. Whoever else waits for this core gets it in between.
template <class Found> bool linger(int64_t nanoseconds, const Found& found) {
  for (const int64_t end = steadyNanoseconds() + nanoseconds; !found(); sched_yield()) {
    for (int i = 0; i < 16 && !found(); ++i) _mm_pause();
    if (steadyNanoseconds() >= end) return found();
  }
  return true;
}

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

/// Sleeps while `word` holds `seen`, until somebody wakes it, at most for `limit` (negative: for ever).
inline void sleepWhile(std::atomic<uint32_t>& word, uint32_t seen, std::chrono::nanoseconds limit) {
  const timespec time{time_t(limit.count() / 1'000'000'000), long(limit.count() % 1'000'000'000)};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, limit.count() < 0 ? nullptr : &time, nullptr, 0);
}

/// Wakes up to `count` threads that sleep on `word`. Only its address is used: the word need not be the same object any more.
inline void wakeSleepers(std::atomic<uint32_t>& word, int count) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

} // namespace tiletwin::interp
