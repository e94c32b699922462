// interp/run/Workers.cpp -- cores, the board of calls, and the threads that serve it.
#include "interp/run/Workers.h"
#include "interp/run/ForkLocal.h"
#include "interp/run/Futex.h"
#include "interp/run/OpenMp.h"
#include <algorithm>
#include <bit>
#include <csignal>
#include <fstream>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <thread>

namespace tiletwin::interp {

// ---- forks ----

static std::atomic<unsigned> generationCounter{0};

unsigned forkGeneration() noexcept {
  static const bool registered = [] {
    pthread_atfork(nullptr, nullptr, [] { generationCounter.fetch_add(1, std::memory_order_relaxed); });
    return true;
  }();
  (void)registered;
  return generationCounter.load(std::memory_order_relaxed);
}

/// Forks count from here on.
[[maybe_unused]] static const unsigned generationAtLoad = forkGeneration();

// ---- cores ----

/// CPU quota of this process's cgroup in whole cores, or a large number.
static int cgroupCores() {
  constexpr int kNoLimit = 1 << 20;
  auto cores = [](double quota, double period) {
    return quota > 0 && period > 0 ? std::max(1, int((quota + period - 1) / period)) : kNoLimit;
  };
  std::string quota;
  double period = 0;
  if (std::ifstream file("/sys/fs/cgroup/cpu.max"); file >> quota >> period && quota != "max")
    return cores(std::atof(quota.c_str()), period);
  double microseconds = 0;
  std::ifstream quotaFile("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), periodFile("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (quotaFile >> microseconds && periodFile >> period) return cores(microseconds, period);
  return kNoLimit;
}

static int countCores() {
  int cores = int(std::max(1u, std::thread::hardware_concurrency()));
  // The mask must be as large as the kernel's: grow it until it fits.
  for (int bits = 1024; bits <= (1 << 16); bits *= 2) {
    cpu_set_t* set = CPU_ALLOC(size_t(bits));
    if (!set) break;
    size_t bytes = CPU_ALLOC_SIZE(size_t(bits));
    bool fits = sched_getaffinity(0, bytes, set) == 0;
    if (fits) cores = std::max(1, CPU_COUNT_S(bytes, set));
    CPU_FREE(set);
    if (fits) break;
  }
  return std::min(cores, cgroupCores());
}

int availableCores() {
  static const int cores = countCores();
  return cores;
}

// ---- the board ----

namespace {

// Entry::state.
constexpr uint32_t kInside = 1, kInsideMask = 0xfff;             ///< helpers that have joined and not left
constexpr uint32_t kWanted = 1 << 12, kWantedMask = 0xfff << 12; ///< places that nobody has taken
constexpr uint32_t kOwnerSleeps = 1 << 24, kRung = 1 << 25;

/// For so long a helper looks for the next call before it sleeps: about as long as falling asleep and being woken take, so that
/// looking costs at most twice what the better choice would have cost.
constexpr int64_t kLingerNanoseconds = 50'000;
/// For so long a launching thread, which has nothing else to do, looks whether its helpers have ended.
constexpr int64_t kPatienceNanoseconds = 200'000;
/// The least time for which OpenMP's threads look for the next region: libgomp's, which PyTorch has, take 6 to 7 ms.
constexpr int64_t kOpenMpSpinsNanoseconds = 4'000'000;
/// Launches that come so close to each other are taken to go on: the first region wakes the threads, and the next ones find them awake.
/// Often PyTorch's operations between them have kept them so.
constexpr int64_t kCloseNanoseconds = 200'000;
/// If a region costs so much, other processes have the core of one of its threads. A launch on our own threads would not wait for it:
/// the next ones do that, until the time lost is less than 2 % of the time gone by. A few time slices now and then are tolerated: they say
/// little about the next region, while our own threads share their cores with OpenMP's that still look for work.
constexpr int64_t kLateNanoseconds = 1'000'000, kRestAfterLate = 50, kToleratedNanoseconds = 10'000'000;

} // namespace

Workers& Workers::instance() {
  static auto* object = new ForkLocal<Workers>; // never destroyed: helpers outlive static destructors
  return object->get();
}

void Workers::open(Call& call, int threads) {
  threads = std::min(threads, int(kInsideMask));
  if (threads <= 0) return;
  uint32_t taken = taken_.load(std::memory_order_relaxed);
  Entry* entry = nullptr;
  uint32_t bit = 0;
  do {
    if (taken == ~uint32_t(0)) return;
    entry = &board_[size_t(std::countr_one(taken))];
    bit = uint32_t(1) << std::countr_one(taken);
  } while (!taken_.compare_exchange_weak(taken, taken | bit, std::memory_order_acquire));
  call.entry_ = entry;
  entry->bit = bit;
  entry->call = &call;
  entry->hasCores = threads < availableCores();
  callsAreClose_.store(steadyNanoseconds() - lastClosed_.load(std::memory_order_relaxed) < kLingerNanoseconds,
                       std::memory_order_relaxed);
  entry->state.store(uint32_t(threads) * kWanted, std::memory_order_release);
  wanting_.fetch_or(bit);
  opened_.fetch_add(1);
  // Whoever is not counted here has yet to see what stands in the two lines above.
  if (const int missing = threads - lingering_.load(); missing > 0 && asleep_.load() > 0)
    wakeSleepers(opened_, missing);
  needed_.store(std::min(busy_.load() + threads, std::max(threads, availableCores() - 1)), std::memory_order_relaxed);
  startThreads();
}

void Workers::share(Call& call, int threads, bool openMp, void (*lead)(void*)) {
  if (!openMp) {
    open(call, threads);
    return lead(call.context);
  }
  Entry entry; // the region ends after every helper has left it
  struct Team {
    Workers& workers;
    Entry& entry;
    void (*lead)(void*);
  } team{*this, entry, lead};
  call.entry_ = &entry;
  entry.call = &call;
  entry.hasCores = true;
  entry.state.store(uint32_t(std::min(threads, int(kInsideMask))) * kWanted, std::memory_order_release);
  const int64_t late = openmp::region(
      [](void* context) {
        const Team& self = *static_cast<Team*>(context);
        self.lead(self.entry.call->context);
      },
      [](void* context) {
        const Team& self = *static_cast<Team*>(context);
        self.workers.join(self.entry);
      },
      &team);
  call.entry_ = nullptr;
  const int64_t now = steadyNanoseconds();
  lastRegion_.store(now, std::memory_order_relaxed);
  if (late < kLateNanoseconds) return;
  const int64_t since = std::max(now, lostUntil_.load(std::memory_order_relaxed));
  lostUntil_.store(since + kRestAfterLate * late, std::memory_order_relaxed);
}

int Workers::regionThreads() const {
  const int threads = openmp::threads();
  if (threads == 1) return threads;
  const int64_t left = lostUntil_.load(std::memory_order_relaxed) - steadyNanoseconds();
  return left > kRestAfterLate * kToleratedNanoseconds ? 1 : threads;
}

bool Workers::areAwake(bool openMp) const {
  if (!openMp) return lingering_.load(std::memory_order_relaxed) > 0;
  const int64_t now = steadyNanoseconds();
  return now - lastRegion_.load(std::memory_order_relaxed) < kOpenMpSpinsNanoseconds ||
         now - lastLaunch_.load(std::memory_order_relaxed) < kCloseNanoseconds;
}

void Workers::noteLaunch() { lastLaunch_.store(steadyNanoseconds(), std::memory_order_relaxed); }

void Workers::close(Call& call) {
  if (!call.entry_) return;
  wanting_.fetch_and(~call.entry_->bit);
  call.entry_->state.fetch_and(~kWantedMask);
  lastClosed_.store(steadyNanoseconds(), std::memory_order_relaxed);
}

bool Workers::wait(Call& call, std::chrono::microseconds timeout) {
  if (!call.entry_) return true;
  Entry& entry = *call.entry_;
  const auto over = [](uint32_t state) { return (state & kInsideMask) == 0 || (state & kRung); };
  const auto isOver = [&] { return over(entry.state.load(std::memory_order_acquire)); };
  if (!(entry.hasCores ? linger(kPatienceNanoseconds, isOver) : isOver())) {
    const uint32_t state = entry.state.fetch_or(kOwnerSleeps) | kOwnerSleeps;
    if (!over(state)) sleepWhile(entry.state, state, timeout);
  }
  if (entry.state.fetch_and(~(kOwnerSleeps | kRung)) & kInsideMask) return false;
  call.entry_ = nullptr;
  taken_.fetch_and(~entry.bit, std::memory_order_release);
  return true;
}

void Workers::ring(Call& call) {
  if (call.entry_->state.fetch_or(kRung) & kOwnerSleeps) wakeSleepers(call.entry_->state, 1);
}

// ---- helpers ----

bool Workers::join(Entry& entry) {
  uint32_t state = entry.state.load(std::memory_order_relaxed);
  do
    if (!(state & kWantedMask)) return false;
  while (!entry.state.compare_exchange_weak(state, state - kWanted + kInside, std::memory_order_acquire));
  const bool ours = entry.bit != 0;
  if ((state & kWantedMask) == kWanted) wanting_.fetch_and(~entry.bit);
  if (ours) busy_.fetch_add(1, std::memory_order_relaxed);
  entry.call->work(entry.call->context);
  if (ours) busy_.fetch_sub(1, std::memory_order_relaxed);
  // From here on the call may be gone, and another one may have its entry.
  state = entry.state.fetch_sub(kInside);
  if ((state & kInsideMask) == kInside && (state & kOwnerSleeps)) wakeSleepers(entry.state, 1);
  return true;
}

bool Workers::serve() {
  for (uint32_t wanting = wanting_.load(); wanting; wanting &= wanting - 1)
    if (join(board_[size_t(std::countr_zero(wanting))])) return true;
  return false;
}

void Workers::idle() {
  const uint32_t seen = opened_.load();
  const auto isWanted = [this] { return wanting_.load() != 0; };
  if (callsAreClose_.load(std::memory_order_relaxed) && threads_.load(std::memory_order_relaxed) < availableCores()) {
    lingering_.fetch_add(1);
    linger(kLingerNanoseconds, isWanted);
    lingering_.fetch_sub(1);
  }
  asleep_.fetch_add(1);
  if (!isWanted()) sleepWhile(opened_, seen, std::chrono::nanoseconds(-1));
  asleep_.fetch_sub(1);
}

void Workers::helperMain() {
  startThreads();
  while (true)
    if (!serve()) idle();
}

void Workers::startThreads() {
  for (int started = 0; started < 2; ++started) { // each of which starts two more
    int threads = threads_.load(std::memory_order_relaxed);
    do
      if (threads >= needed_.load(std::memory_order_relaxed)) return;
    while (!threads_.compare_exchange_weak(threads, threads + 1, std::memory_order_relaxed));
    // Python's handlers must run on its own threads: helpers take no signals.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      std::thread(&Workers::helperMain, this).detach();
    } catch (...) { // no more threads to be had: fewer helpers
      threads_.fetch_sub(1, std::memory_order_relaxed);
      started = 2;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
}

} // namespace tiletwin::interp
