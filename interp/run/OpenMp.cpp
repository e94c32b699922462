// interp/run/OpenMp.cpp -- finding an OpenMP runtime, and regions on its threads.
// Source: the entry point that GCC's compiler calls for `#pragma omp parallel`; LLVM's and Intel's runtimes have it, too.
#include "interp/run/OpenMp.h"
#include "interp/run/Core.h"
#include "interp/run/ForkLocal.h"
#include "interp/run/Futex.h"
#include "interp/run/Workers.h"
#include <atomic>
#include <csetjmp>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tiletwin::interp::openmp {

namespace {

struct Runtime {
  void (*parallel)(void (*work)(void*), void* context, unsigned threads, unsigned flags) = nullptr;
  int (*maxThreads)() = nullptr;
  int (*inParallel)() = nullptr;
  int (*teamThreads)() = nullptr;
};

/// Libraries that were ever loaded: a number that grows.
unsigned long long loadedLibraries() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* to) {
        *static_cast<unsigned long long*>(to) = info->dlpi_adds;
        return 1; // each entry says the same
      },
      &count);
  return count;
}

template <class Function> bool find(const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

/// Null until a library has brought one.
const Runtime* runtime() {
  static std::atomic<const Runtime*> found{nullptr};
  static std::atomic<unsigned long long> looked{0};
  if (const Runtime* known = found.load(std::memory_order_acquire)) return known;
  const unsigned long long libraries = loadedLibraries();
  if (looked.load(std::memory_order_relaxed) == libraries) return nullptr;
  Runtime candidate;
  if (find("GOMP_parallel", candidate.parallel) && find("omp_get_max_threads", candidate.maxThreads) &&
      find("omp_in_parallel", candidate.inParallel) && find("omp_get_num_threads", candidate.teamThreads)) {
    static const Runtime chosen = candidate;
    found.store(&chosen, std::memory_order_release);
    return &chosen;
  }
  looked.store(libraries, std::memory_order_relaxed);
  return nullptr;
}

bool isFirstThread() {
  static thread_local const bool first = getpid() == syscall(SYS_gettid);
  return first;
}

constexpr uint32_t kLeaderSleeps = uint32_t(1) << 31;
constexpr int64_t kPatienceNanoseconds = 200'000; ///< looking for the last thread; then the leader sleeps

struct Region {
  void (*lead)(void*);
  void (*help)(void*);
  void* context;
  const pthread_t leader = pthread_self();
  /// The leader's, at the beginning, if there is another one for each helper; else -1.
  const int core = runtime()->maxThreads() <= availableCores() ? sched_getcpu() : -1;
  const unsigned generation = forkGeneration();
  std::atomic<uint32_t> helped{0}; ///< any thread: threads that have returned from `help`, and kLeaderSleeps
  int64_t led = 0;                 ///< leader: nanoseconds in `lead`
  jmp_buf outside{};

  void main() {
    if (!pthread_equal(pthread_self(), leader)) {
      // A kernel may wake a helper on the leader's core though another one is idle. What looks for the end of a region there does not
      // give the core away: the region would end after a time slice, some milliseconds later.
      leaveCore(core);
      help(context);
      if (helped.fetch_add(1) & kLeaderSleeps) wakeSleepers(helped, 1);
      return;
    }
    led = -steadyNanoseconds();
    lead(context);
    led += steadyNanoseconds();
    // Only the runtime's frame lies between here and there, and it has nothing to destroy.
    if (forkGeneration() != generation) longjmp(outside, 1);
    waitForOthers(uint32_t(runtime()->teamThreads() - 1));
  }

  void waitForOthers(uint32_t others) {
    const auto all = [&](uint32_t word) { return (word & ~kLeaderSleeps) == others; };
    if (linger(kPatienceNanoseconds, [&] { return all(helped.load(std::memory_order_acquire)); })) return;
    for (uint32_t word = helped.fetch_or(kLeaderSleeps) | kLeaderSleeps; !all(word); word = helped.load())
      sleepWhile(helped, word, std::chrono::nanoseconds(-1));
  }
};

} // namespace

int threads() {
  if (forkGeneration() > 0 || !isFirstThread()) return 1;
  const Runtime* omp = runtime();
  return omp && !omp->inParallel() ? omp->maxThreads() : 1;
}

int64_t region(void (*lead)(void*), void (*help)(void*), void* context) {
  Region region{lead, help, context};
  if (setjmp(region.outside) != 0) return 0;
  const int64_t from = steadyNanoseconds();
  runtime()->parallel([](void* self) { static_cast<Region*>(self)->main(); }, &region, 0, 0);
  return steadyNanoseconds() - from - region.led;
}

} // namespace tiletwin::interp::openmp
