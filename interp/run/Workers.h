// interp/run/Workers.h -- the threads that help a launching thread.
//
// Here:      how many cores there are, a board of calls that threads may join, the threads behind it (oneTBB's; plain
// ones
//            in the child of a fork, where oneTBB's are gone and cannot be started again).
// Not here:  what a call does (Scheduler.h).
// Idea:      a launch never depends on a helper: open() asks for some, whoever comes in time joins, close() takes back
// the
//            places nobody took, and only threads that did join are waited for. A call lives on its owner's stack.
// Invariant: `wanted` and `inside` of a call change under mutex_ only; a call is on the board while wanted > 0.
#pragma once
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace tiletwin::interp {

/// Cores this process may use: its CPU affinity and its cgroup's CPU quota, at least 1. Asked once per process.
int availableCores();

class Workers {
public:
  /// Work that threads may join.
  struct Call {
    void (*work)(void* context) = nullptr; ///< run once by each thread that joins; must not throw
    void* context = nullptr;

  private:
    friend class Workers;
    int wanted_ = 0;               // under Workers::mutex_
    int inside_ = 0;               // under Workers::mutex_
    bool rung_ = false;            // under Workers::mutex_
    Call* next_ = nullptr;         // under Workers::mutex_
    std::condition_variable bell_; // with Workers::mutex_
  };

  /// The workers of this process.
  static Workers& instance();
  Workers();
  ~Workers();

  /// Puts the call on the board for up to `threads` helpers, and wakes them. Never fails: without threads nobody comes.
  void open(Call& call, int threads);
  /// Nobody joins any more.
  void close(Call& call);
  /// Waits until every helper has left a closed call (true), or the bell rings or the time is over (false).
  bool wait(Call& call, std::chrono::microseconds timeout);
  /// Wakes a thread in wait().
  void ring(Call& call);

  /// Uses plain threads from now on (tests: ThreadSanitizer sees their synchronisation, oneTBB's it does not).
  void usePlainThreads();

private:
  struct Tbb;
  void serve(std::unique_lock<std::mutex>& lock); // a helper's time on the board
  void startPlainThreads();                       // under mutex_
  void plainThread();

  std::mutex mutex_;
  std::condition_variable wake_; // plain threads wait here, with mutex_
  Call* first_ = nullptr;        // under mutex_
  int places_ = 0;               // sum of wanted_ on the board, under mutex_
  int plainThreads_ = 0;         // under mutex_
  int plainIdle_ = 0;            // under mutex_
  bool plain_ = false;           // under mutex_
  std::unique_ptr<Tbb> tbb_;     // under mutex_
};

} // namespace tiletwin::interp
