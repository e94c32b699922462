// interp/run/Workers.h -- the threads that help a launching thread.
//
// Here:      how many cores there are, a board of calls that threads may join, the threads that do.
// Not here:  what a call does (Scheduler.h).
// Idea:      a launch never depends on a helper: open() asks for some, whoever comes in time joins, close() takes back
//            the places nobody took, and only threads that did join are waited for. A call lives on its owner's stack, its
//            entry on the board does not: joining, leaving and waking touch the entry alone, so none of them takes a lock.
//            A helper whose call has ended looks for the next one for a short time before it sleeps, if calls have come close
//            to each other: waking a thread takes longer than many launches (docs/decisions.md). It gives its core to whoever
//            else wants it. Where another library computes on OpenMP's threads, a call can have those in place of ours.
// Invariant: an entry is free, or belongs to one open or closed call; it is free again only after every helper has left.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace tiletwin::interp {

/// Cores this process may use: its CPU affinity and its cgroup's CPU quota, at least 1. Asked once per process.
int availableCores();

class Workers {
  struct Entry;

public:
  /// Work that threads may join.
  struct Call {
    void (*work)(void* context) = nullptr; ///< run once by each thread that joins; must not throw
    void* context = nullptr;

  private:
    friend class Workers;
    Entry* entry_ = nullptr; // launching thread; null: nobody was asked
  };

  /// The workers of this process; the child of a fork has its own.
  static Workers& instance();

  /// Calls `lead` with the call's context on this thread, while up to `threads` helpers may join the call; `lead` has to close it
  /// and to wait for it. The helpers are threads of an OpenMP region (OpenMp.h) or, if `openMp` is false, of this object.
  void share(Call& call, int threads, bool openMp, void (*lead)(void* context));
  /// Threads, this one included, that a launch has which shares its call with OpenMP's. 1: it has to use ours.
  int regionThreads() const;
  /// Whether such helpers are likely to look for work at this moment. Others have to be woken.
  bool areAwake(bool openMp) const;
  /// A launch that may share OpenMP's threads has ended, whether or not it did.
  void noteLaunch();
  /// Puts the call on the board for up to `threads` helpers, and wakes them. Never fails: without threads, or beside more
  /// calls than the board has entries, nobody comes. Allocates only while it starts threads.
  void open(Call& call, int threads);
  /// Nobody joins any more.
  void close(Call& call);
  /// Waits until every helper has left a closed call (true), or the bell rings or the time is over (false).
  bool wait(Call& call, std::chrono::microseconds timeout);
  /// Ends a wait(): for helpers inside the call.
  void ring(Call& call);

private:
  struct alignas(64) Entry {
    std::atomic<uint32_t> state{0}; ///< any thread: places wanted, helpers inside, flags (Workers.cpp)
    Call* call = nullptr;           ///< written by the owner before it wants anybody; read by helpers inside
    uint32_t bit = 0;               ///< owner: its place on the board; 0: it is not there, its helpers are OpenMP's
    bool hasCores = false;          ///< owner: one for itself and one for each helper
  };

  bool serve(); // a helper: joins a call and works. False: none wants anybody
  bool join(Entry& entry);
  void idle();         // a helper: waits until a call may want it
  void helperMain();   // a helper's life
  void startThreads(); // two of those that are needed

  /// As many calls as have bits in a word: more launching threads than most machines have cores.
  std::array<Entry, 32> board_;
  // All of these: any thread.
  alignas(64) std::atomic<uint32_t> taken_{0};   // bits of entries that belong to a call
  std::atomic<int64_t> lastClosed_{0};           // nanoseconds: when a call was closed
  std::atomic<int64_t> lastRegion_{0};           // nanoseconds: when a region of OpenMP ended
  std::atomic<int64_t> lastLaunch_{0};           // nanoseconds: when a launch ended that might have made one
  std::atomic<int64_t> lostUntil_{0};            // nanoseconds: when late regions have cost 2 % of the time gone by
  alignas(64) std::atomic<uint32_t> wanting_{0}; // bits of entries that want helpers
  std::atomic<bool> callsAreClose_{false};       // the last call followed so soon that helpers may wait for the next
  alignas(64) std::atomic<uint32_t> opened_{0};  // counts calls; helpers sleep until it changes
  alignas(64) std::atomic<int> lingering_{0};    // helpers that look for a call
  std::atomic<int> asleep_{0};                   // helpers that sleep, or are about to
  std::atomic<int> busy_{0};                     // helpers inside calls
  std::atomic<int> threads_{0}, needed_{0};      // helpers that there are, and should be
};

} // namespace tiletwin::interp
