// interp/run/Scheduler.h -- runs the programs of a launch on several threads, in order as far as it goes.
//
// Here:      who takes which program, traps and their order, prints and their order, interruption, progress.
// Not here:  plans and frames (Launch.cpp joins them to this through Executor), threads (Workers.h); programs that wait
//            for each other leave their worker and come back by the rules of SchedulerWaiting.cpp.
// Idea:      positions are handed out in ascending chunks from one counter, to helpers and to the launching thread alike, or
//            each thread has a part of them (Shares.h). A trap at position p cancels what is above p; everything below p
//            still runs to its end, so the lowest trap of the grid wins whatever the timing.
// Invariant: hooks are called on the launching thread only; nothing is allocated unless a program prints or traps.
#pragma once
#include "interp/Interp.h"
#include "interp/run/ProgramOrder.h"
#include "interp/run/Shares.h"
#include "interp/run/Workers.h"
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>

namespace tiletwin::interp {

class Scheduler;
struct WaitingRoom; // SchedulerWaiting.cpp
struct DeleteWaitingRoom {
  void operator()(WaitingRoom* room) const;
};

/// A thread's place in a launch. Lives on that thread's stack.
class alignas(64) Seat {
public:
  Seat(Scheduler& scheduler, bool launching);
  ~Seat();
  /// For loops inside programs: false if the program has to stop. Cheap; `seat` is a Seat.
  static bool poll(void* seat);
  /// For programs that print much at a time: takes their text away. False if the program has to stop.
  static bool takePrinted(void* seat);

private:
  friend class Scheduler;
  bool look(size_t keep); ///< at what is printed, unless it is no more than `keep` bytes, and at the clock
  Scheduler& scheduler_;
  const bool launching_;          ///< the launching thread's seat
  unsigned polls_ = 0;            ///< own thread
  int share_ = -1;                ///< the part that it takes positions from, if there are parts; own thread
  int64_t programs_ = 0;          ///< run so far; own thread
  void* frame_ = nullptr;         ///< own thread
  bool running_ = false;          ///< launches that may wait: a program is at hand. Under Scheduler::mutex_
  int64_t since_ = 0;             ///< and when it came back to a seat, milliseconds. Under Scheduler::mutex_
  uint64_t looked_ = 0;           ///< and when it last waited in vain (WaitingRoom::epoch). Under Scheduler::mutex_
  Trap trap_;                     ///< of the program at hand; empty between programs; own thread
  std::atomic<int64_t> position_; ///< no program below it is, or will be, this thread's. Written by the own thread
  Seat* next_ = nullptr;          ///< under Scheduler::mutex_
};

/// What a program that left its worker waits for.
struct WaitState {
  bool progressed = false;       ///< it wrote memory since it began or went on
  bool sure = false;             ///< it will do the same again until memory changes
  bool timed = false;            ///< its wait ends by itself when its time is over
  const void* address = nullptr; ///< if not null, only a change of these bytes can end the wait
  int32_t bytes = 0;             ///< 1, 2, 4 or 8
  uint64_t bits = 0;             ///< what they held
};
enum class Advance : uint8_t { Done, Trapped, Waits };

/// How programs are run: the seam between scheduling and execution. Functions may throw std::exception.
struct Executor {
  void* context = nullptr;
  /// A thread takes a seat: its frame. Null: no memory for one.
  void* (*enter)(void* context, Seat& seat) = nullptr;
  void (*leave)(void* context, void* frame) = nullptr;
  /// Runs one program; false: it trapped, and `trap` is filled but for its program id.
  bool (*run)(void* context, void* frame, const ProgramId& id, Trap& trap) = nullptr;
  /// The text the frame's program printed so far; the scheduler takes it away. Null if nothing can print.
  std::string& (*printed)(void* frame) = nullptr;
  // Launches whose programs may wait (ScheduleOptions::waits) use these in place of `run`.
  /// Begins a program, or (id null) lets one go on that waited. `timeIsOver`: a timed wait ends now.
  Advance (*advance)(void* context, void* frame, Seat& seat, const ProgramId* id, bool timeIsOver, Trap& trap,
                     WaitState& wait) = nullptr;
  /// Where and on what the frame's program waits, but for its id.
  void (*describeWait)(void* context, void* frame, WaitingProgram& waiting) = nullptr;
  /// Null, or runs programs as one that follow each other along the grid's first dimension. False: it did nothing.
  bool (*runAdjacent)(void* context, void* frame, const ProgramId& first, int64_t count) = nullptr;
};

struct ScheduleOptions {
  int threads = 1;
  int64_t programNanoseconds = -1; ///< what a program took in earlier launches; -1: unknown
  bool openMp = false; ///< helpers are threads of an OpenMP region, if programs do not wait (Workers::share)
  int64_t pollMilliseconds = 20;
  size_t printBytes = size_t(16) << 20; ///< text that may wait for programs with lower ids
  bool waits = false;                   ///< programs may wait for each other
  bool inOrder = false;                 ///< timed waits end when nothing else can go on, not by the clock
  int64_t resident = 1;                 ///< programs that may have begun and not ended
  int64_t deadlockMilliseconds = 2000;  ///< nothing has changed for so long while every program waits: a deadlock
  int64_t restlessMilliseconds = 60000; ///< the same if rounds of waiting loops differ (they count)
};

class Scheduler {
public:
  Scheduler(const Executor& executor, const ProgramOrder& order, const Hooks& hooks, const ScheduleOptions& options);
  /// Runs every program. Call once.
  Trap run();
  /// Nanoseconds one program took on the launching thread, on average; -1 if it was not measured.
  int64_t programNanoseconds() const { return measured_; }

private:
  friend class Seat;
  bool claim(Seat& seat, int64_t& begin, int64_t& end);
  void work(Seat& seat);
  /// Runs the first of the positions as one. Returns how many.
  int64_t workAdjacent(Seat& seat, int64_t begin, int64_t end);
  /// What `run` gives for the program at hand, traps and exceptions included; its prints are taken away when it ends.
  template <class Run> Advance guarded(Seat& seat, int64_t position, const ProgramId& id, void* frame, const Run& run);
  void fail(int64_t position, Trap&& trap);
  void failWith(int64_t position, const ProgramId& id, TrapKind kind, const char* message);
  void interrupt() { interrupted_.store(true, std::memory_order_relaxed); }
  bool cancelled(int64_t position) const {
    return position > limit_.load(std::memory_order_relaxed) || interrupted_.load(std::memory_order_relaxed);
  }

  void tick(); // launching thread: hooks that are due
  bool pollDue();
  void callPoll();
  /// Launching thread: how many helpers the positions left are worth if a program takes so long (negative: unknown).
  int helpersWorthwhile(int64_t programNanoseconds) const;
  void lead();                     // launching thread: its part of a launch
  void lead(int helpers);          // the same beside helpers
  int64_t finished() const;        // positions finished or skipped
  void openToHelpers(int helpers); // launching thread
  void helperMain();
  void waitForHelpers();
  void noticeFork(); // launching thread, after a hook: in the child of a fork the helpers do not exist

  /// Others look for the lowest position at a seat, or for whoever runs. In other launches helpers share no lock.
  bool countsSeats() const { return executor_.printed || options_.waits; }

  Trap outcome(); // launching thread, after all others have gone

  // SchedulerWaiting.cpp
  struct Task;
  void forgetIdleThreads(); // in the child of a fork
  Trap runWaiting();
  void workWaiting(Seat& seat);
  bool nextTask(Seat& seat, Task& task);
  /// Hands out the lowest by `key` of the parked programs that fit. False: none does.
  template <class Key, class Fits>
  bool takeLowest(Seat& seat, Task& task, const Key& key, const Fits& fits, bool timeIsOver = false); // under mutex_
  bool takeParked(Seat& seat, Task& task);                                                            // under mutex_
  enum class Restless : uint8_t { Due, Unsure, Any };
  bool takeRestless(Seat& seat, Task& task, Restless which);         // under mutex_
  bool takeNew(Seat& seat, Task& task);                              // under mutex_
  bool mayStart() const;                                             // under mutex_
  void dropCancelled();                                              // under mutex_
  void hand(Seat& seat, Task& task, size_t parked, bool timeIsOver); // under mutex_
  bool isStuck(const Seat& self) const;                              // under mutex_
  /// Of a stuck launch: nothing has changed for so long that it is a deadlock.
  bool patienceIsOver() const;               // under mutex_
  bool othersRun(const Seat& self) const;    // under mutex_
  bool endTimedWait(Seat& seat, Task& task); // under mutex_
  void reportDeadlock();                     // under mutex_
  Advance runTask(Seat& seat, Task& task, WaitState& wait);
  void settle(Seat& seat, Task& task, Advance how, const WaitState& wait);
  int64_t lowestParked() const; // under mutex_

  void print(Seat& seat, std::string& text);
  void waitForPrints(Seat& seat);
  int64_t lowestRunning(); // under mutex_
  bool deliverable();      // under mutex_
  void deliverPrints();    // launching thread; allocates nothing, so that it never throws while helpers run
  void callPrint(const std::string& text);

  const Executor& executor_;
  const ProgramOrder& order_;
  const Hooks& hooks_;
  const ScheduleOptions options_;
  const int64_t count_;

  Shares* shares_ = nullptr; // written by the launching thread before others come; null: next_ hands out
  alignas(64) std::atomic<int64_t> next_{0}; // any thread: next position to hand out
  alignas(64) std::atomic<int64_t> limit_;   // any thread: position of the lowest trap; lowered under mutex_
  std::atomic<bool> interrupted_{false};     // any thread
  alignas(64) std::atomic<int64_t> done_{0}; // any thread: positions finished or skipped that next_ has handed out
  std::atomic<size_t> waitingBytes_{0};      // any thread: text in waiting_; changed under mutex_

  std::mutex mutex_;
  std::condition_variable printsTaken_;         // with mutex_
  Trap trap_;                                   // under mutex_
  Seat* seats_ = nullptr;                       // under mutex_; only if countsSeats()
  std::multimap<int64_t, std::string> waiting_; // under mutex_: printed text by position

  // Launches that may wait; made before they run, content under mutex_.
  std::unique_ptr<WaitingRoom, DeleteWaitingRoom> room_;
  Workers::Call call_;                // launching thread
  Seat* launchingSeat_ = nullptr;     // launching thread
  bool opened_ = false;               // launching thread
  unsigned openedIn_ = 0;             // launching thread: forkGeneration() when helpers were asked for
  bool forked_ = false;               // launching thread: this is the child of a fork in a hook, and stops
  bool hookFailed_ = false;           // launching thread
  int64_t nextPoll_ = 0;              // launching thread, coarse nanoseconds
  int64_t start_ = 0, measured_ = -1; // launching thread
};

template <class Run>
Advance Scheduler::guarded(Seat& seat, int64_t position, const ProgramId& id, void* frame, const Run& run) {
  Advance how = Advance::Trapped;
  try {
    how = run();
    if (how == Advance::Trapped) {
      if (!(seat.trap_.kind == TrapKind::Interrupted && cancelled(position))) {
        seat.trap_.program = id;
        fail(position, std::move(seat.trap_));
      }
      seat.trap_ = {};
    }
    if (how != Advance::Waits && executor_.printed) print(seat, executor_.printed(frame));
  } catch (const std::bad_alloc&) {
    failWith(position, id, TrapKind::OutOfMemory, "no memory left while the program ran");
  } catch (const std::exception& error) { failWith(position, id, TrapKind::Unsupported, error.what()); } catch (...) {
    failWith(position, id, TrapKind::Unsupported, "an unknown exception left the interpreter");
  }
  return how;
}

} // namespace tiletwin::interp
