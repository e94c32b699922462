// runtime/cuda/RecentLaunches.cpp -- see RecentLaunches.h.
#include "runtime/cuda/RecentLaunches.h"
#include <mutex>
#include <set>

namespace tiletwin::cuda {
namespace {

constexpr size_t kKept = 8;
std::mutex mutex;
std::array<RecentLaunch, kKept> ring; // under mutex
uint64_t count = 0;                   // launches noted so far, under mutex

} // namespace

const char* internName(std::string_view name) {
  static std::mutex namesMutex;
  static auto* names =
      new std::set<std::string, std::less<>>; // never freed: the ring may be read while the process ends
  std::lock_guard lock(namesMutex);
  return names->emplace(name).first->c_str();
}

void noteLaunch(const RecentLaunch& launch) {
  std::lock_guard lock(mutex);
  ring[count++ % kKept] = launch;
}

std::string sizesText(const std::array<uint32_t, 3>& sizes) {
  return "(" + std::to_string(sizes[0]) + ", " + std::to_string(sizes[1]) + ", " + std::to_string(sizes[2]) + ")";
}

std::string describeRecentLaunches() {
  std::lock_guard lock(mutex);
  std::string text;
  for (uint64_t back = 1; back <= kKept && back <= count; ++back) {
    const RecentLaunch& launch = ring[(count - back) % kKept];
    text += "\n    " + std::string(launch.kernel) + ": grid " + sizesText(launch.grid) + ", block " +
            sizesText(launch.block) + ", " + std::to_string(launch.sharedBytes) +
            " bytes of dynamic shared memory, device " + std::to_string(launch.device);
  }
  return text;
}

} // namespace tiletwin::cuda
