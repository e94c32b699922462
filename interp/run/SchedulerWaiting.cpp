// interp/run/SchedulerWaiting.cpp -- launches whose programs may wait for each other.
//
// Here:      which program runs next, which begin, when none can go on.
// Not here:  how a program finds out that it waits (ExecuteWait.cpp); prints, interruption, helpers (Scheduler.cpp).
// Idea:      a program that waits is parked with its frame, and its worker takes another: one whose memory has changed (the
//            bytes it looked at are compared, which costs nothing but a read), one that has to look by itself ("restless"),
//            a new one, in this order; among the first, whoever has waited longest. A program that is asked in vain lets
//            twice as many others begin as the last time before it is asked again: at a barrier of all programs, where
//            whoever arrives changes what all look at, a few looks are enough that way. As many programs may have begun as
//            the emulated GPU could hold.
//            An epoch ends whenever a program ends, or is parked after it has written. If every program that has begun waits
//            in vain in one epoch, no more can begin, and that has lasted, it is a deadlock: threads outside the launch
//            could still have changed memory in the meantime.
// Invariant: a program that has begun is in exactly one place: at a seat, or parked. Positions are handed out, parked and
//            taken under mutex_, so that lowestRunning() never misses one. With one thread every choice depends on the
//            programs only, not on time, but for when a deadlock is reported.
#include "interp/program/Atomics.h"
#include "interp/run/FloatState.h"
#include "interp/run/Scheduler.h"
#include <algorithm>
#include <chrono>
#include <ctime>
#include <exception>
#include <limits>
#include <new>
#include <vector>

namespace tiletwin::interp {

namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
/// Milliseconds: whoever runs longer than that after waiting does something useful.
constexpr int64_t kLongestLook = 50;
constexpr auto kShortestPause = std::chrono::microseconds(20), kLongestPause = std::chrono::microseconds(1000);

int64_t coarseMilliseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return int64_t(t.tv_sec) * 1000 + t.tv_nsec / 1'000'000;
}

struct Parked {
  int64_t position = 0;
  ProgramId id{};
  void* frame = nullptr;
  WaitState wait;
  uint64_t looked = 0; ///< epoch in which it found that it has to wait
  uint64_t round = 0;  ///< WaitingRoom::round when it was asked last
  uint64_t order = 0;  ///< WaitingRoom::parks when it was parked
  unsigned vain = 0;   ///< how often in a row it has gone on without writing anything

  /// Rounds in which it is left alone as long as others may begin.
  uint64_t respite() const { return (uint64_t(1) << std::min(vain, 16u)) - 1; }
};

bool hasChanged(const WaitState& wait) { return readAtomically(uintptr_t(wait.address), wait.bytes) != wait.bits; }

} // namespace

/// All under Scheduler::mutex_.
struct WaitingRoom {
  std::vector<Parked> parked; ///< in no order
  std::vector<void*> frames;  ///< free ones
  int64_t live = 0;           ///< programs that have begun and not ended
  int64_t resident = 1;       ///< most of them; fewer than asked for once memory runs out
  uint64_t epoch = 1, round = 1, parks = 0;
  int64_t changed = 0;          ///< milliseconds: when the epoch began
  bool over = false;            ///< nobody takes a program any more
  int idle = 0;                 ///< threads in `bell`
  std::condition_variable bell; ///< a program was parked or has ended

  void nextEpoch() {
    ++epoch;
    changed = coarseMilliseconds();
  }
};

/// A program at a seat.
struct Scheduler::Task {
  int64_t position = 0;
  ProgramId id{};
  void* frame = nullptr;
  bool begins = true, timeIsOver = false;
  unsigned vain = 0; ///< Parked's
};

void DeleteWaitingRoom::operator()(WaitingRoom* room) const { delete room; }

void Scheduler::forgetIdleThreads() {
  new (&room_->bell) std::condition_variable;
  room_->idle = 0;
}

int64_t Scheduler::lowestParked() const {
  int64_t lowest = kNone;
  for (const Parked& p : room_->parked) lowest = std::min(lowest, p.position);
  return lowest;
}

// ---- which program is next ----

bool Scheduler::mayStart() const {
  int64_t next = next_.load(std::memory_order_relaxed);
  return next < count_ && !cancelled(next) && room_->live < room_->resident;
}

void Scheduler::dropCancelled() {
  WaitingRoom& room = *room_;
  std::erase_if(room.parked, [&](const Parked& p) {
    if (!cancelled(p.position)) return false;
    room.frames.push_back(p.frame);
    --room.live;
    return true;
  });
}

void Scheduler::hand(Seat& seat, Task& task, size_t index, bool timeIsOver) {
  WaitingRoom& room = *room_;
  const Parked& p = room.parked[index];
  task = {p.position, p.id, p.frame, false, timeIsOver, p.vain};
  seat.looked_ = p.wait.address && hasChanged(p.wait) ? 0 : p.looked;
  seat.since_ = coarseMilliseconds();
  seat.position_.store(p.position);
  seat.frame_ = p.frame;
  seat.running_ = true;
  room.parked[index] = room.parked.back();
  room.parked.pop_back();
}

template <class Key, class Fits>
bool Scheduler::takeLowest(Seat& seat, Task& task, const Key& key, const Fits& fits, bool timeIsOver) {
  const std::vector<Parked>& parked = room_->parked;
  size_t best = parked.size();
  for (size_t i = 0; i < parked.size(); ++i)
    if ((best == parked.size() || key(parked[i]) < key(parked[best])) && fits(parked[i])) best = i;
  if (best == parked.size()) return false;
  hand(seat, task, best, timeIsOver);
  return true;
}

bool Scheduler::takeParked(Seat& seat, Task& task) {
  const bool othersBegin = mayStart();
  const auto fits = [&](const Parked& p) {
    if (!p.wait.address || (othersBegin && room_->round - p.round < p.respite())) return false;
    return hasChanged(p.wait);
  };
  return takeLowest(seat, task, [](const Parked& p) { return p.order; }, fits);
}

bool Scheduler::takeRestless(Seat& seat, Task& task, Restless which) {
  const bool othersBegin = mayStart();
  const auto fits = [&](const Parked& p) {
    // Timed waits look at the clock themselves.
    const bool restless = !p.wait.address || !p.wait.sure || (p.wait.timed && !options_.inOrder);
    const bool due = !p.wait.address && room_->round - p.round > (othersBegin ? p.respite() : 0) &&
                     (!p.wait.sure || p.looked < room_->epoch);
    return restless && (which != Restless::Due || due) && (which != Restless::Unsure || !p.wait.sure);
  };
  return takeLowest(seat, task, [](const Parked& p) { return std::pair(p.round, p.position); }, fits);
}

bool Scheduler::takeNew(Seat& seat, Task& task) {
  WaitingRoom& room = *room_;
  while (mayStart() && !room.frames.empty()) {
    int64_t position = next_.load(std::memory_order_relaxed);
    ProgramOrder::Cursor cursor(order_, position);
    seat.position_.store(position);
    next_.store(position + 1);
    if (cursor.skipped()) {
      done_.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    task = {position, cursor.id(), room.frames.back(), true, false, 0};
    room.frames.pop_back();
    seat.frame_ = task.frame;
    seat.running_ = true;
    seat.looked_ = 0;
    ++room.live;
    ++room.round;
    return true;
  }
  return false;
}

bool Scheduler::isStuck(const Seat& self) const {
  const WaitingRoom& room = *room_;
  if (room.parked.empty() || mayStart()) return false;
  for (const Parked& p : room.parked)
    if (!p.wait.address && p.looked != room.epoch) return false; // what is watched has not changed
  for (const Seat* seat = seats_; seat; seat = seat->next_)
    if (seat != &self && seat->running_ &&
        (seat->looked_ != room.epoch || coarseMilliseconds() - seat->since_ > kLongestLook))
      return false; // it does more than look
  return true;
}

bool Scheduler::patienceIsOver() const {
  const WaitingRoom& room = *room_;
  bool sure = true;
  for (const Parked& p : room.parked) {
    if (p.wait.timed) return false;
    sure &= p.wait.sure;
  }
  const bool others = room.live > 1 || next_.load(std::memory_order_relaxed) < count_;
  const int64_t patience = sure ? options_.deadlockMilliseconds : options_.restlessMilliseconds;
  return (sure || others) && coarseMilliseconds() - room.changed >= patience;
}

bool Scheduler::othersRun(const Seat& self) const {
  for (const Seat* seat = seats_; seat; seat = seat->next_)
    if (seat != &self && seat->running_) return true;
  return false;
}

bool Scheduler::endTimedWait(Seat& seat, Task& task) {
  const auto isTimed = [](const Parked& p) { return p.wait.timed; };
  return takeLowest(seat, task, [](const Parked& p) { return p.position; }, isTimed, true);
}

void Scheduler::reportDeadlock() {
  WaitingRoom& room = *room_;
  room.over = true;
  if (limit_.load(std::memory_order_relaxed) != kNone) return; // programs below a trap waited for those above it
  std::sort(room.parked.begin(), room.parked.end(),
            [](const Parked& a, const Parked& b) { return a.position < b.position; });
  Trap trap;
  trap.kind = TrapKind::Deadlock;
  for (const Parked& p : room.parked) {
    WaitingProgram& waiting = trap.waiting.emplace_back();
    executor_.describeWait(executor_.context, p.frame, waiting);
    waiting.program = p.id;
  }
  trap.program = trap.waiting.front().program;
  trap.where = trap.waiting.front().where;
  trap.operation = trap.waiting.front().operation;
  trap.notStarted = std::max<int64_t>(count_ - next_.load(), 0);
  trap.resident = room.resident;
  trap_ = std::move(trap);
  if (executor_.printed)
    for (const Parked& p : room.parked)
      if (std::string& text = executor_.printed(p.frame); !text.empty()) {
        const size_t bytes = text.size();
        waiting_.emplace(p.position, std::move(text));
        waitingBytes_ += bytes;
        text.clear();
      }
  limit_.store(kNone - 1, std::memory_order_relaxed); // all that was printed is of interest
}

bool Scheduler::nextTask(Seat& seat, Task& task) {
  WaitingRoom& room = *room_;
  std::chrono::microseconds pause = kShortestPause;
  std::unique_lock lock(mutex_);
  for (bool waited = false;; waited = true) {
    if (interrupted_.load(std::memory_order_relaxed)) room.over = true;
    if (room.over) return false;
    dropCancelled();
    if (takeParked(seat, task) || takeRestless(seat, task, Restless::Due)) return true;
    if (mayStart() && room.frames.empty()) {
      lock.unlock();
      void* frame = nullptr;
      try {
        frame = executor_.enter(executor_.context, seat);
      } catch (const std::exception&) { // as if there were no memory
      }
      lock.lock();
      if (frame) {
        room.frames.push_back(frame);
      } else {
        room.resident = room.live;
        if (room.live == 0) {
          room.over = true;
          lock.unlock();
          failWith(next_.load(), {}, TrapKind::OutOfMemory, "no memory for the tiles of one program");
          return false;
        }
      }
      continue;
    }
    if (takeNew(seat, task)) return true;
    if (room.live == 0 && !mayStart()) {
      if (room.idle) room.bell.notify_all();
      return false;
    }
    const bool stuck = isStuck(seat);
    if (stuck && options_.inOrder && endTimedWait(seat, task)) return true;
    const bool over = stuck && patienceIsOver();
    if (over && !othersRun(seat)) {
      reportDeadlock();
      room.bell.notify_all();
      return false;
    }
    // Nothing to do for now. Others may write memory without a word, so this looks again soon. A deadlock's report names
    // all programs, so nobody takes one any more while the last of them come back from other seats.
    if (!over && takeRestless(seat, task, waited ? Restless::Any : Restless::Unsure)) {
      ++room.round;
      return true;
    }
    ++room.idle;
    room.bell.wait_for(lock, pause);
    --room.idle;
    pause = std::min(pause * 2, kLongestPause);
    if (seat.launching_) {
      lock.unlock();
      tick();
      lock.lock();
    }
  }
}

// ---- running ----

Advance Scheduler::runTask(Seat& seat, Task& task, WaitState& wait) {
  return guarded(seat, task.position, task.id, task.frame, [&] {
    return executor_.advance(executor_.context, task.frame, seat, task.begins ? &task.id : nullptr, task.timeIsOver,
                             seat.trap_, wait);
  });
}

void Scheduler::settle(Seat& seat, Task& task, Advance how, const WaitState& wait) {
  WaitingRoom& room = *room_;
  std::lock_guard lock(mutex_);
  if (how == Advance::Waits) {
    if (wait.progressed) room.nextEpoch();
    const unsigned vain = task.begins || wait.progressed ? 0 : task.vain + 1;
    room.parked.push_back({task.position, task.id, task.frame, wait, room.epoch, room.round, ++room.parks, vain});
  } else {
    room.frames.push_back(task.frame);
    --room.live;
    room.nextEpoch();
    done_.fetch_add(1, std::memory_order_relaxed);
  }
  seat.running_ = false;
  seat.position_.store(kNone);
  if (room.idle) room.bell.notify_one();
}

void Scheduler::workWaiting(Seat& seat) {
  Task task;
  seat.position_.store(kNone);
  try {
    while (nextTask(seat, task)) {
      WaitState wait;
      Advance how = runTask(seat, task, wait);
      if (seat.launching_ && forked_) return;
      settle(seat, task, how, wait);
      if (seat.launching_ && count_ > 1) tick();
    }
  } catch (const std::exception&) { // no memory for the lists: the frame at hand goes with the launch
    failWith(task.position, task.id, TrapKind::OutOfMemory, "no memory left for programs that wait");
    std::lock_guard lock(mutex_);
    room_->over = true;
  }
  seat.position_.store(kNone);
}

Trap Scheduler::runWaiting() {
  FloatState floatState;
  room_.reset(new WaitingRoom);
  room_->resident = std::max<int64_t>(options_.resident, 1);
  room_->changed = coarseMilliseconds();
  Seat seat(*this, true);
  if (options_.threads > 1 && count_ > 1) openToHelpers(helpersWorthwhile(-1));
  workWaiting(seat);
  if (opened_) waitForHelpers();
  if (forked_) return outcome(); // the lists are as a helper may have left them
  for (const Parked& p : room_->parked) executor_.leave(executor_.context, p.frame);
  room_->parked.clear();
  deliverPrints();
  for (void* frame : room_->frames) executor_.leave(executor_.context, frame);
  return outcome();
}

} // namespace tiletwin::interp
