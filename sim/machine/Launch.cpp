// sim/machine/Launch.cpp -- a grid: its clusters on threads, from the first to the last or to the first trap.
// Idea:      threads take clusters in order of their number. A cluster that spins, because it waits for others, goes to the back
//            of a queue and the next one begins, so that all of a grid can be under way at the same time.
#include "runtime/Environment.h"
#include "sim/check/Checks.h"
#include "sim/counters/Counting.h"
#include "sim/debugger/Attach.h"
#include "sim/isa/DeviceHeap.h"
#include "sim/machine/Cluster.h"
#include "sim/machine/Program.h"
#include "sim/machine/TrapText.h"
#include <chrono>
#include <condition_variable>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <xmmintrin.h>

namespace tiletwin::sim {
namespace {

/// Programs compute with denormals, round to nearest and raise no exceptions, whatever the thread's owner has set.
class FloatState {
public:
  FloatState() : saved_(_mm_getcsr()) { _mm_setcsr(kPlain); }
  ~FloatState() { _mm_setcsr(saved_); }
  FloatState(const FloatState&) = delete;
  FloatState& operator=(const FloatState&) = delete;

private:
  static constexpr unsigned kPlain = 0x1f80;
  unsigned saved_;
};

/// Instructions of warps in a cluster's turn, and in one of a cluster that spins.
constexpr uint64_t kTurn = 20000, kSpinningTurn = 4000;
/// CTAs under way at the same time: what 132 multiprocessors of an H200 hold at the most.
constexpr uint64_t kResidentCtas = 132 * 32;
constexpr auto kPollInterval = std::chrono::milliseconds(50);

class GridRun {
public:
  explicit GridRun(Grid& grid) : grid_(grid) {
    const LaunchParams& params = *grid.params;
    clusters_ = 1;
    uint64_t size = 1;
    for (size_t i = 0; i < 3; ++i) {
      clusters_ *= params.grid[i] / params.cluster[i];
      size *= params.cluster[i];
    }
    if (!params.clusters.empty()) clusters_ = params.clusters.size();
    residentLimit_ = std::max<uint64_t>(kResidentCtas / size, 1);
  }

  RunCounts run(unsigned threads);

private:
  std::unique_ptr<ClusterRun> next(std::shared_ptr<FramePool>& frames);
  void work(bool launches);
  bool pollIsDue();
  void poll();

  Grid& grid_;
  uint64_t clusters_ = 0, residentLimit_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t begun_ = 0;                             // under mutex_
  uint64_t finished_ = 0;                          // under mutex_
  unsigned workers_ = 0;                           // under mutex_
  std::deque<std::unique_ptr<ClusterRun>> queue_;  // that spin, under mutex_
  RunCounts counts_;                               // under mutex_
  std::chrono::steady_clock::time_point lastPoll_; // of the launching thread
};

std::unique_ptr<ClusterRun> GridRun::next(std::shared_ptr<FramePool>& frames) {
  std::unique_lock lock(mutex_);
  if (grid_.stop) return nullptr;
  if (begun_ < clusters_ && begun_ - finished_ < residentLimit_) {
    const uint64_t next = begun_++;
    const std::span<const uint64_t> chosen = grid_.params->clusters;
    const uint64_t linear = chosen.empty() ? next : chosen[next];
    lock.unlock();
    return std::make_unique<ClusterRun>(grid_, linear, std::move(frames));
  }
  if (queue_.empty()) return nullptr;
  std::unique_ptr<ClusterRun> cluster = std::move(queue_.front());
  queue_.pop_front();
  return cluster;
}

void GridRun::work(bool launches) {
  const FloatState state;
  {
    const std::lock_guard lock(mutex_);
    ++workers_;
  }
  std::shared_ptr<FramePool> frames;
  while (std::unique_ptr<ClusterRun> cluster = next(frames)) {
    ClusterRun::End end = ClusterRun::End::Turn;
    while (end == ClusterRun::End::Turn) {
      end = cluster->run(cluster->spins() ? kSpinningTurn : kTurn);
      if (launches && pollIsDue()) poll();
      if (end == ClusterRun::End::Turn && cluster->spins()) break;
    }
    const std::lock_guard lock(mutex_);
    if (end == ClusterRun::End::Turn) {
      queue_.push_back(std::move(cluster));
      continue;
    }
    ++finished_;
    counts_ += cluster->counts();
    frames = cluster->frames();
  }
  const std::lock_guard lock(mutex_);
  --workers_;
  changed_.notify_all();
}

bool GridRun::pollIsDue() {
  if (!grid_.params->poll) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now - lastPoll_ < kPollInterval) return false;
  lastPoll_ = now;
  return true;
}

void GridRun::poll() {
  if (grid_.params->poll()) return;
  const std::lock_guard lock(grid_.mutex);
  if (!grid_.trap) grid_.trap = Trap::of(TrapKind::Interrupted, "the launch was interrupted");
  grid_.stop = true;
}

RunCounts GridRun::run(unsigned threads) {
  lastPoll_ = std::chrono::steady_clock::now();
  threads = unsigned(std::min<uint64_t>(threads, clusters_));
  if (threads <= 1) {
    work(true);
  } else {
    tbb::task_arena arena(int(threads), 1);
    arena.execute([&] {
      tbb::task_group others;
      for (unsigned i = 1; i < threads; ++i) others.run([this] { work(false); });
      work(true);
      // The others may be at it for long: the user is asked meanwhile.
      std::unique_lock lock(mutex_);
      while (workers_) {
        changed_.wait_for(lock, kPollInterval);
        lock.unlock();
        if (pollIsDue()) poll();
        lock.lock();
      }
      lock.unlock();
      others.wait();
    });
  }
  // Clusters that were left in the queue when the launch stopped.
  for (const std::unique_ptr<ClusterRun>& cluster : queue_) counts_ += cluster->counts();
  return counts_;
}

// ---- What a launch must be like --------------------------------------------------------------------------------------------------

constexpr std::array<uint32_t, 3> kLargestGrid{0x7FFFFFFF, 65535, 65535};
constexpr uint32_t kLargestBlock = 1024, kLargestShared = 227 * 1024, kLargestCluster = 16;

uint64_t volume(const std::array<uint32_t, 3>& d) { return uint64_t(d[0]) * d[1] * d[2]; }

/// What a GPU would refuse; empty: nothing.
std::string whatIsWrong(const Kernel& kernel, const LaunchParams& params) {
  const ptx::Function& function = kernel.function();
  if (!volume(params.grid)) return "the grid " + tripleText(params.grid) + " has no CTA";
  if (params.grid[0] > kLargestGrid[0] || params.grid[1] > kLargestGrid[1] || params.grid[2] > kLargestGrid[2])
    return "the grid " + tripleText(params.grid) + " is larger than (2147483647, 65535, 65535)";
  if (!volume(params.block)) return "the block " + tripleText(params.block) + " has no thread";
  if (volume(params.block) > kLargestBlock || params.block[0] > kLargestBlock || params.block[1] > kLargestBlock ||
      params.block[2] > 64)
    return "the block " + tripleText(params.block) + " is larger than (1024, 1024, 64) or 1024 threads";
  if (!volume(params.cluster) || volume(params.cluster) > kLargestCluster)
    return "the cluster " + tripleText(params.cluster) + " has none or more than 16 CTAs";
  for (size_t i = 0; i < 3; ++i)
    if (params.grid[i] % params.cluster[i])
      return "the grid " + tripleText(params.grid) + " is no multiple of the cluster " + tripleText(params.cluster);
  std::array<uint32_t, 3> required{};
  uint64_t most = 1;
  for (size_t i = 0; i < 3; ++i) {
    required[i] = uint32_t(std::max(function.requiredThreads[i], int32_t(1)));
    most *= uint64_t(std::max(function.maxThreads[i], int32_t(1)));
  }
  if (function.requiredThreads[0] && params.block != required)
    return "the block " + tripleText(params.block) + " is not what .reqntid asks for, " + tripleText(required);
  if (function.maxThreads[0] && volume(params.block) > most)
    return "the block " + tripleText(params.block) + " has " + std::to_string(volume(params.block)) +
           " threads, .maxntid allows " + std::to_string(most);
  if (uint64_t(kernel.staticShared()) + params.dynamicShared > kLargestShared)
    return "shared memory of " + std::to_string(uint64_t(kernel.staticShared()) + params.dynamicShared) +
           " bytes, there are " + std::to_string(kLargestShared);
  if (params.parameters.size() != kernel.parameterBytes())
    return std::to_string(params.parameters.size()) + " bytes of parameters, the entry has " +
           std::to_string(kernel.parameterBytes());
  const uint64_t count = volume(params.grid) / volume(params.cluster);
  for (const uint64_t cluster : params.clusters)
    if (cluster >= count)
      return "there is no cluster " + std::to_string(cluster) + ", there are " + std::to_string(count);
  return {};
}

void addMemory(Grid& grid) {
  grid.addresses.reserve(grid.params->buffers.size() + grid.program->module->variables.size() + 1);
  for (const Buffer& buffer : grid.params->buffers)
    if (buffer.begin < buffer.end) grid.addresses.add({buffer.begin, buffer.end, buffer.readOnly, buffer.name});
  const ptx::Module& module = *grid.program->module;
  for (size_t i = 0; i < module.variables.size(); ++i) {
    const ptx::Variable& variable = module.variables[i];
    const uint64_t at = grid.program->memory->address(i);
    if (at && variable.bytes)
      grid.addresses.add({at, at + variable.bytes, variable.space == ptx::Space::Const, variable.name});
  }
  if (grid.heap) grid.addresses.add(grid.heap->range());
  grid.addresses.sort();
}

} // namespace

Result launch(const Kernel& kernel, const LaunchParams& given) {
  LaunchParams params = given;
  const auto& required = kernel.function().requiredCluster;
  if (required[0] > 0 && volume(params.cluster) == 1)
    for (size_t i = 0; i < 3; ++i) params.cluster[i] = uint32_t(std::max(required[i], int32_t(1)));
  if (const std::string wrong = whatIsWrong(kernel, params); !wrong.empty())
    return {.trap = Trap::of(TrapKind::InvalidValue, kernel.name() + ": " + wrong)};
  Grid grid;
  grid.program = &kernel.program();
  grid.params = &params;
  grid.schedule = params.schedule ? *params.schedule : Schedule::ofEnvironment();
  grid.parameters.assign(params.parameters.begin(), params.parameters.end());
  grid.heap = params.heap || !grid.program->usesHeap ? params.heap : &DeviceHeap::instance();
  addMemory(grid);
  const std::vector<std::unique_ptr<Observer>> checks = makeChecks(grid);
  for (const std::unique_ptr<Observer>& check : checks) grid.observers.push_back(check.get());
  std::optional<Counting> counting;
  if (params.counts) grid.observers.push_back(&counting.emplace(*grid.program->module));
  const debugger::Attached debugger(grid);

  const unsigned cores = unsigned(tbb::this_task_arena::max_concurrency());
  const unsigned threads = params.threads ? params.threads : unsigned(environment::numThreads().value_or(int(cores)));
  const RunCounts counts = GridRun(grid).run(debugger ? 1 : threads);
  if (counting) *params.counts = counting->take(params.buffers);
  return {std::move(grid.trap), counts.instructions, counts.laneInstructions, grid.printed};
}

} // namespace tiletwin::sim
