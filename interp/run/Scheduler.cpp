// interp/run/Scheduler.cpp -- handing out programs, ending launches. Prints are in SchedulerPrints.cpp.
#include "interp/run/Scheduler.h"
#include "interp/run/FloatState.h"
#include "interp/run/ForkLocal.h"
#include <algorithm>
#include <chrono>
#include <ctime>
#include <exception>
#include <limits>
#include <new>

namespace tiletwin::interp {

namespace {
constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
/// Work that is worth asking for helpers, and work that is worth one more of them: by what it takes until they come. Some us if
/// they look for work at this moment; else the launching thread wakes ours one by one, and has to wait until the last thread of
/// a region is awake.
struct HandOff {
  int64_t least, each;
};
constexpr HandOff kAwake{8'000, 3'000}, kAsleep{20'000, 10'000}, kRegionAsleep{60'000, 10'000};
constexpr int64_t kLongProgram = 1'000'000'000; ///< a longer one counts as this, so that sums of them are numbers
constexpr int64_t kChunkNanoseconds = 500'000;  ///< a chunk that takes longer makes the end of a launch uneven
constexpr int64_t kLeastNanoseconds = 2'000;    ///< a chunk that takes less is not worth the claim
constexpr size_t kPrintsKept = 64 << 10;        ///< text a helper's program may keep while it runs
constexpr int64_t kLargestChunk = 256, kLargestUnmeasuredChunk = 64;

int64_t now(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return int64_t(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}
} // namespace

// ---- seats ----

Seat::Seat(Scheduler& scheduler, bool launching)
    : scheduler_(scheduler), launching_(launching), position_(scheduler.next_.load()) {
  if (launching) scheduler.launchingSeat_ = this;
  if (!scheduler.countsSeats()) return;
  std::lock_guard lock(scheduler.mutex_);
  next_ = scheduler.seats_;
  scheduler.seats_ = this;
}

Seat::~Seat() {
  if (!scheduler_.countsSeats()) return;
  std::lock_guard lock(scheduler_.mutex_);
  for (Seat** link = &scheduler_.seats_; *link; link = &(*link)->next_)
    if (*link == this) {
      *link = next_;
      break;
    }
  scheduler_.printsTaken_.notify_all(); // the lowest running position may have risen
}

bool Seat::poll(void* context) {
  Seat& seat = *static_cast<Seat*>(context);
  if ((++seat.polls_ & 63) == 0) return seat.look(kPrintsKept);
  return !seat.scheduler_.cancelled(seat.position_.load(std::memory_order_relaxed));
}

bool Seat::takePrinted(void* context) { return static_cast<Seat*>(context)->look(0); }

bool Seat::look(size_t keep) {
  const int64_t position = position_.load(std::memory_order_relaxed);
  try {
    if (scheduler_.executor_.printed) {
      std::string& text = scheduler_.executor_.printed(frame_);
      if (text.size() > keep || launching_) scheduler_.print(*this, text);
    }
    if (launching_) scheduler_.tick();
  } catch (...) { // out of memory for a text that waits; the program that asks must not see the exception
    scheduler_.failWith(position, {}, TrapKind::OutOfMemory, "no memory left for printed text");
    return false;
  }
  return !scheduler_.cancelled(position);
}

// ---- handing out ----

Scheduler::Scheduler(const Executor& executor, const ProgramOrder& order, const Hooks& hooks,
                     const ScheduleOptions& options)
    : executor_(executor), order_(order), hooks_(hooks), options_(options), count_(order.count()), limit_(kNone) {
  call_.work = [](void* context) { static_cast<Scheduler*>(context)->helperMain(); };
  call_.context = this;
}

bool Scheduler::claim(Seat& seat, int64_t& begin, int64_t& end) {
  const int64_t most = options_.programNanoseconds > 0
                           ? std::clamp<int64_t>(kChunkNanoseconds / options_.programNanoseconds, 1, kLargestChunk)
                           : kLargestUnmeasuredChunk;
  const int64_t least = options_.programNanoseconds > 0
                            ? std::clamp<int64_t>(kLeastNanoseconds / options_.programNanoseconds, 1, most)
                            : 1;
  if (shares_) {
    if (seat.share_ < 0) seat.share_ = shares_->home();
    const auto isCancelled = [this](int64_t position) { return cancelled(position); };
    return shares_->claim(seat.share_, least, most, isCancelled, begin, end);
  }
  // First the bound, then the claim: lowestRunning() must never miss a position that has been handed out.
  int64_t next = next_.load();
  seat.position_.store(next);
  if (next >= count_ || cancelled(next)) return false;
  const int64_t chunk = options_.threads == 1
                            ? most
                            : std::clamp<int64_t>((count_ - next) / (int64_t(options_.threads) * 16), least, most);
  begin = next_.fetch_add(chunk);
  end = std::min(begin + chunk, count_);
  return begin < count_;
}

int64_t Scheduler::workAdjacent(Seat& seat, int64_t begin, int64_t end) {
  if (!executor_.runAdjacent || !order_.isWhole()) return 0;
  int64_t done = 0;
  while (end - begin - done > 1 && !cancelled(begin + done)) {
    const ProgramId first = ProgramOrder::Cursor(order_, begin + done).id();
    seat.position_.store(begin + done, std::memory_order_release);
    int64_t count = std::min<int64_t>(end - begin - done, order_.grid()[0] - first[0]);
    // A mask mostly cuts the last program only.
    const auto ran = [&] { return count >= 2 && executor_.runAdjacent(executor_.context, seat.frame_, first, count); };
    bool hasRun = ran();
    if (!hasRun && count > 2) {
      --count;
      hasRun = ran();
    }
    if (!hasRun) break;
    seat.programs_ += count;
    done += count;
    if (seat.launching_) tick();
  }
  return done;
}

void Scheduler::work(Seat& seat) {
  int64_t begin, end;
  while (claim(seat, begin, end)) {
    const int64_t alone = begin + workAdjacent(seat, begin, end);
    ProgramOrder::Cursor cursor(order_, std::min(alone, end - 1));
    for (int64_t position = alone; position < end && !cancelled(position); ++position, cursor.next()) {
      seat.position_.store(position, std::memory_order_release);
      if (cursor.skipped()) continue;
      guarded(seat, position, cursor.id(), seat.frame_, [&] {
        const bool fine = executor_.run(executor_.context, seat.frame_, cursor.id(), seat.trap_);
        return fine ? Advance::Done : Advance::Trapped;
      });
      ++seat.programs_;
      if (seat.launching_ && count_ > 1) tick();
    }
    if (shares_) {
      shares_->finish(seat.share_, end - begin);
      continue;
    }
    done_.fetch_add(end - begin, std::memory_order_relaxed);
    if (!seat.launching_ || opened_ || options_.threads == 1) continue;
    const int64_t took = now(CLOCK_MONOTONIC) - start_;
    if (took < kAsleep.least) continue;
    if (const int helpers = helpersWorthwhile(took / std::max<int64_t>(seat.programs_, 1)))
      return lead(helpers); // it takes longer than it used to
  }
  seat.position_.store(kNone);
}

void Scheduler::fail(int64_t position, Trap&& trap) {
  std::lock_guard lock(mutex_);
  if (position >= limit_.load(std::memory_order_relaxed)) return;
  trap_ = std::move(trap);
  limit_.store(position, std::memory_order_relaxed);
  printsTaken_.notify_all();
}

void Scheduler::failWith(int64_t position, const ProgramId& id, TrapKind kind, const char* message) {
  Trap trap;
  trap.kind = kind;
  trap.program = id;
  try {
    trap.message = message;
  } catch (...) { // the kind says it
  }
  fail(position, std::move(trap));
}

// ---- helpers ----

void Scheduler::helperMain() {
  FloatState floatState;
  Seat seat(*this, false);
  if (room_) return workWaiting(seat);
  try {
    seat.frame_ = executor_.enter(executor_.context, seat);
  } catch (...) { // no frame: this helper cannot help, the launching thread has one
  }
  if (!seat.frame_) return;
  work(seat);
  executor_.leave(executor_.context, seat.frame_);
}

int Scheduler::helpersWorthwhile(int64_t programNanoseconds) const {
  const int64_t left = std::clamp<int64_t>(count_ - next_.load(std::memory_order_relaxed), 0, 1'000'000);
  const int64_t helpers = std::min<int64_t>(options_.threads - 1, left);
  if (helpers <= 0 || programNanoseconds < 0) return int(helpers);
  const HandOff& handOff = Workers::instance().areAwake(options_.openMp) ? kAwake
                           : options_.openMp                             ? kRegionAsleep
                                                                         : kAsleep;
  const int64_t work = std::min(programNanoseconds, kLongProgram) * left;
  return work < handOff.least ? 0 : int(std::min(helpers, work / handOff.each));
}

void Scheduler::lead() {
  // Not before: how long a region takes to begin says nothing about programs.
  if (count_ > 1 && launchingSeat_->programs_ == 0) start_ = now(CLOCK_MONOTONIC);
  work(*launchingSeat_);
  if (measured_ < 0 && launchingSeat_->programs_ > 1)
    measured_ = (now(CLOCK_MONOTONIC) - start_) / launchingSeat_->programs_;
  if (opened_) waitForHelpers();
}

void Scheduler::lead(int helpers) {
  opened_ = true;
  openedIn_ = forkGeneration();
  Workers::instance().share(call_, helpers, options_.openMp,
                            [](void* context) { static_cast<Scheduler*>(context)->lead(); });
}

void Scheduler::openToHelpers(int helpers) {
  opened_ = true;
  openedIn_ = forkGeneration();
  Workers::instance().open(call_, helpers);
}

void Scheduler::waitForHelpers() {
  if (forked_) return; // they are the parent's
  Workers& workers = Workers::instance();
  workers.close(call_);
  while (!workers.wait(call_, std::chrono::milliseconds(options_.pollMilliseconds))) {
    tick();
    if (forked_) return;
  }
}

// A helper may have held the mutex when the process was forked, or waited with it: the child, where this thread is alone, gets
// new ones and looks at nothing that a helper could have been changing.
void Scheduler::noticeFork() {
  if (!opened_ || forked_ || forkGeneration() == openedIn_) return;
  forked_ = true;
  new (&mutex_) std::mutex;
  new (&printsTaken_) std::condition_variable;
  if (room_) forgetIdleThreads();
  seats_ = launchingSeat_;
  launchingSeat_->next_ = nullptr;
  interrupt();
}

Trap Scheduler::outcome() {
  Trap trap;
  if (forked_) {
    trap.kind = TrapKind::Unsupported;
    trap.message = "the process was forked by a callback of the launch: the launch goes on in the parent only";
    return trap;
  }
  if (interrupted_.load()) {
    trap.kind = TrapKind::Interrupted;
    return trap;
  }
  std::lock_guard lock(mutex_);
  return std::move(trap_);
}

// ---- the launching thread ----

Trap Scheduler::run() {
  if (count_ == 0) return {};
  if (options_.waits) return runWaiting();
  FloatState floatState;
  Seat seat(*this, true);
  try {
    seat.frame_ = executor_.enter(executor_.context, seat);
  } catch (const std::exception& error) {
    failWith(0, {}, TrapKind::Unsupported, error.what());
    return std::move(trap_);
  }
  if (!seat.frame_) {
    failWith(0, {}, TrapKind::OutOfMemory, "no memory for the tiles of one program");
    return std::move(trap_);
  }
  const int helpers = count_ > 1 && options_.threads > 1 ? helpersWorthwhile(options_.programNanoseconds) : 0;
  if (helpers == 0) {
    lead();
  } else if (countsSeats()) { // the lowest position that runs must be known
    lead(helpers);
  } else {
    Shares shares(count_, helpers + 1);
    shares_ = &shares;
    lead(helpers);
  }
  deliverPrints();
  executor_.leave(executor_.context, seat.frame_);
  if (options_.openMp) Workers::instance().noteLaunch();
  return outcome();
}

bool Scheduler::pollDue() {
  int64_t t = now(CLOCK_MONOTONIC_COARSE);
  if (nextPoll_ != 0 && t < nextPoll_) return false;
  bool first = nextPoll_ == 0;
  nextPoll_ = t + options_.pollMilliseconds * 1'000'000;
  return !first;
}

void Scheduler::tick() {
  if (!hookFailed_ && pollDue()) callPoll();
  if (waitingBytes_.load(std::memory_order_relaxed) > 0) deliverPrints();
}

int64_t Scheduler::finished() const { return shares_ ? shares_->finished() : done_.load(std::memory_order_relaxed); }

void Scheduler::callPoll() {
  if (!hooks_.poll) return;
  bool goOn = false;
  try {
    goOn = hooks_.poll(std::min(finished(), count_), count_);
  } catch (...) { // as if it had said stop
  }
  noticeFork();
  if (goOn) return;
  hookFailed_ = true;
  interrupt();
  std::lock_guard lock(mutex_);
  printsTaken_.notify_all();
}

} // namespace tiletwin::interp
