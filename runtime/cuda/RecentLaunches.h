// runtime/cuda/RecentLaunches.h -- the kernels launched last, for errors that the GPU reports later and without a name.
// Here:      a small ring of names and sizes, one for the process.
// Not here:  launches inside a graph that is replayed: nobody tells us of those.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tiletwin::cuda {

struct RecentLaunch {
  const char* kernel = nullptr; ///< from internName
  int device = 0;
  std::array<uint32_t, 3> grid{}, block{};
  uint32_t sharedBytes = 0;
};

/// A copy of the name that lives as long as the process.
const char* internName(std::string_view name);
/// Thread-safe, allocates nothing.
void noteLaunch(const RecentLaunch& launch);
/// "\n    add: grid (64, 1, 1), block (128, 1, 1), 0 bytes of dynamic shared memory, device 0" for each, newest first.
std::string describeRecentLaunches();

/// "(64, 1, 1)".
std::string sizesText(const std::array<uint32_t, 3>& sizes);

} // namespace tiletwin::cuda
