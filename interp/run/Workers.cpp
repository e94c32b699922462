// interp/run/Workers.cpp -- cores, the board of calls, and the threads that serve it.
#include "interp/run/Workers.h"
#include "interp/run/ForkLocal.h"
#include <algorithm>
#include <csignal>
#include <fstream>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <thread>
#include <vector>

namespace tiletwin::interp {

// ---- forks ----

static std::atomic<unsigned> generationCounter{0};

unsigned forkGeneration() {
  static const bool registered = [] {
    pthread_atfork(nullptr, nullptr, [] { generationCounter.fetch_add(1, std::memory_order_relaxed); });
    return true;
  }();
  (void)registered;
  return generationCounter.load(std::memory_order_relaxed);
}

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

/// oneTBB as a source of threads: each task serves the board once.
struct Workers::Tbb {
  int threads = 0;
  std::vector<std::unique_ptr<tbb::task_arena>> arenas; ///< the last is in use; others may still be enqueued to
  std::unique_ptr<tbb::global_control> control;         ///< only if more threads are wanted than oneTBB would start

  tbb::task_arena& arenaFor(int count) {
    if (count <= threads && !arenas.empty()) return *arenas.back();
    using Control = tbb::global_control;
    threads = std::max(count, availableCores() - 1);
    if (size_t(threads) + 1 > Control::active_value(Control::max_allowed_parallelism))
      control = std::make_unique<Control>(Control::max_allowed_parallelism, size_t(threads) + 1);
    return *arenas.emplace_back(std::make_unique<tbb::task_arena>(threads, 0));
  }
};

static ForkLocal<Workers>& workers() {
  static auto* object = new ForkLocal<Workers>; // never destroyed: helpers may outlive static destructors
  return *object;
}

Workers& Workers::instance() { return workers().get(); }
Workers::Workers() : plain_(forkGeneration() > 0) {}
Workers::~Workers() = default;

void Workers::usePlainThreads() {
  std::lock_guard lock(mutex_);
  plain_ = true;
}

void Workers::open(Call& call, int threads) {
  if (threads <= 0) return;
  std::unique_lock lock(mutex_);
  call.wanted_ = threads;
  call.next_ = first_;
  first_ = &call;
  places_ += threads;
  if (plain_) return startPlainThreads();
  try {
    if (!tbb_) tbb_ = std::make_unique<Tbb>();
    tbb::task_arena& arena = tbb_->arenaFor(threads);
    lock.unlock(); // a task may start at once
    for (int i = 0; i < threads; ++i)
      arena.enqueue([] {
        Workers& self = Workers::instance();
        std::unique_lock lock(self.mutex_);
        self.serve(lock);
      });
  } catch (...) { // out of memory or threads: the launching thread does the work alone
  }
}

void Workers::close(Call& call) {
  std::lock_guard lock(mutex_);
  if (call.wanted_ == 0) return;
  places_ -= call.wanted_;
  call.wanted_ = 0;
  for (Call** link = &first_; *link; link = &(*link)->next_)
    if (*link == &call) {
      *link = call.next_;
      break;
    }
}

bool Workers::wait(Call& call, std::chrono::microseconds timeout) {
  std::unique_lock lock(mutex_);
  if (call.inside_ > 0 && !call.rung_) call.bell_.wait_for(lock, timeout);
  call.rung_ = false;
  return call.inside_ == 0;
}

void Workers::ring(Call& call) {
  std::lock_guard lock(mutex_);
  call.rung_ = true;
  call.bell_.notify_all();
}

void Workers::serve(std::unique_lock<std::mutex>& lock) {
  while (Call* call = first_) {
    --places_;
    ++call->inside_;
    if (--call->wanted_ == 0) first_ = call->next_;
    lock.unlock();
    call->work(call->context);
    lock.lock();
    // The owner frees the call once it sees inside_ == 0, which it can see only after this lock is given back.
    if (--call->inside_ == 0) call->bell_.notify_all();
  }
}

// ---- plain threads ----

void Workers::startPlainThreads() {
  // Python's handlers must run on its own threads: helpers take no signals.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (int idle = plainIdle_; idle < places_; ++idle) {
      std::thread([this] { plainThread(); }).detach();
      ++plainThreads_;
      ++plainIdle_;
    }
  } catch (...) { // no more threads to be had: fewer helpers
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  wake_.notify_all();
}

void Workers::plainThread() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return first_ != nullptr; });
    --plainIdle_;
    serve(lock);
    ++plainIdle_;
  }
}

} // namespace tiletwin::interp
