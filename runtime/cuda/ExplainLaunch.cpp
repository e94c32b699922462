// runtime/cuda/ExplainLaunch.cpp -- see ExplainLaunch.h.
#include "runtime/cuda/ExplainLaunch.h"
#include "runtime/cuda/RecentLaunches.h"

namespace tiletwin::cuda {
namespace {

uint64_t product(const std::array<uint32_t, 3>& sizes) { return uint64_t(sizes[0]) * sizes[1] * sizes[2]; }

bool hasClusters(const LaunchShape& shape) { return product(shape.cluster) > 0; }

/// Limits that are broken, one phrase each. They end with the number that is allowed.
class Reasons {
public:
  Reasons(const Kernel& kernel, const LaunchShape& shape) : kernel_(kernel), shape_(shape) {}
  std::string text() {
    sizes("grid", shape_.grid, {kMaxGridX, kMaxGridY, kMaxGridZ});
    sizes("block", shape_.block, {kMaxBlockX, kMaxBlockY, kMaxBlockZ});
    threads();
    clusters();
    cooperative();
    return text_;
  }

private:
  void add(const std::string& reason) { text_ += "\n  " + reason; }
  int limit(DeviceAttribute attribute) const { return kernel_.device().attribute(attribute); }

  void sizes(const char* what, const std::array<uint32_t, 3>& sizes, const std::array<DeviceAttribute, 3>& limits) {
    for (size_t i = 0; i < 3; ++i) {
      if (sizes[i] == 0) add(std::string(what) + "." + "xyz"[i] + " is 0; it has to be at least 1");
      if (const int most = limit(limits[i]); sizes[i] > uint32_t(most))
        add(std::string(what) + "." + "xyz"[i] + " is " + std::to_string(sizes[i]) + "; this GPU takes at most " +
            std::to_string(most));
    }
  }

  void threads() {
    const uint64_t threads = product(shape_.block);
    const KernelAttributes& attributes = kernel_.attributes();
    if (threads > uint64_t(limit(kMaxThreadsPerBlock)))
      add("a block has " + std::to_string(threads) + " threads; this GPU takes at most " +
          std::to_string(limit(kMaxThreadsPerBlock)));
    else if (threads > uint64_t(attributes.maxThreads))
      add("a block has " + std::to_string(threads) + " threads; this kernel takes at most " +
          std::to_string(attributes.maxThreads) + " (its .maxntid or .reqntid, or its " +
          std::to_string(attributes.registers) + " registers a thread, of which a block has " +
          std::to_string(limit(kMaxRegistersPerBlock)) + ")");
  }

  void clusters() {
    if (!hasClusters(shape_)) return;
    if (!limit(kClusterLaunch)) {
      add("clusters need sm_90 or newer");
      return;
    }
    for (size_t i = 0; i < 3; ++i)
      if (shape_.grid[i] % shape_.cluster[i])
        add(std::string("grid.") + "xyz"[i] + ", " + std::to_string(shape_.grid[i]) +
            ", is no multiple of the cluster's " + std::to_string(shape_.cluster[i]));
    if (product(shape_.cluster) > 2 * kPortableCluster)
      add("a cluster has " + std::to_string(product(shape_.cluster)) + " blocks; at most " +
          std::to_string(2 * kPortableCluster) + " are possible");
  }

  void cooperative() {
    if (!shape_.cooperative || product(shape_.block) == 0 || product(shape_.block) > UINT32_MAX) return;
    const int64_t resident = int64_t(kernel_.residentBlocks(uint32_t(product(shape_.block)), shape_.sharedBytes)) *
                             limit(kMultiprocessorCount);
    if (product(shape_.grid) > uint64_t(resident))
      add("a cooperative launch of " + std::to_string(product(shape_.grid)) + " blocks; this GPU holds at most " +
          std::to_string(resident) + " of this kernel at the same time");
  }

  const Kernel& kernel_;
  const LaunchShape& shape_;
  std::string text_;
};

} // namespace

std::string describeLaunch(const Kernel& kernel, const LaunchShape& shape) {
  std::string text = kernel.name() + " on " + kernel.device().text() + ": grid " + sizesText(shape.grid) + ", block " +
                     sizesText(shape.block);
  if (hasClusters(shape)) text += ", cluster " + sizesText(shape.cluster);
  return text + ", " + std::to_string(shape.sharedBytes) + " bytes of dynamic shared memory";
}

void failLaunch(Result result, const char* call, const Kernel& kernel, const LaunchShape& shape) {
  const std::string launch = describeLaunch(kernel, shape);
  // Not this launch's: the GPU reports the fault of an earlier one now.
  if (isFault(result)) fail(result, call, launch + ": not launched, because an earlier kernel failed");
  std::string reasons;
  try {
    reasons = Reasons(kernel, shape).text();
  } catch (const Error&) {} // the limits cannot be asked for: the driver's words have to do
  std::string text = launch + ": refused: " + call + " gave " + describe(result) + reasons;
  if (reasons.empty() && result == kLaunchOutOfResources)
    text += "\n  the kernel has " + std::to_string(kernel.attributes().registers) + " registers a thread and " +
            std::to_string(kernel.attributes().sharedBytes) + " bytes of shared memory of its own";
  throw Error(ErrorKind::Launch, text, result);
}

} // namespace tiletwin::cuda
