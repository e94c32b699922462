// sim/driver/Launch.cpp -- see Launch.h.
#include "sim/driver/Launch.h"
#include "sim/driver/DeviceMemory.h"
#include "sim/driver/Report.h"
#include "sim/driver/Settings.h"
#include "sim/driver/VirtualDevice.h"
#include <algorithm>
#include <cstdio>
#include <cstring>

namespace tiletwin::driver {
namespace {

constexpr int kSharedGroup = 128; ///< bytes; hardware gives shared memory out in such

constexpr uint32_t kMostThreads = 1024, kMostZ = 64, kMostRows = 65535, kMostX = 0x7FFFFFFF, kPortableCluster = 8,
                   kMostCluster = 16;

uint64_t volume(const std::array<uint32_t, 3>& d) { return uint64_t(d[0]) * d[1] * d[2]; }

/// The cluster that a launch has: its own, else the one that cuFuncSetAttribute or the kernel names.
std::array<uint32_t, 3> clusterOf(const Function& function, const LaunchShape& shape) {
  if (shape.cluster[0]) return shape.cluster;
  std::array<uint32_t, 3> cluster{1, 1, 1};
  for (size_t i = 0; i < 3; ++i) {
    int value = 0;
    function.attribute(kFunctionClusterWidth + int(i), value);
    if (value > 0) cluster[i] = uint32_t(value);
  }
  return cluster;
}

Result checkShape(Context& context, const Function& function, const LaunchShape& shape) {
  const Limits& limits = context.device.limits();
  if (!volume(shape.grid) || !volume(shape.block)) return cuda::kInvalidValue;
  if (shape.grid[0] > kMostX || shape.grid[1] > kMostRows || shape.grid[2] > kMostRows) return cuda::kInvalidValue;
  if (shape.block[0] > kMostThreads || shape.block[1] > kMostThreads || shape.block[2] > kMostZ ||
      volume(shape.block) > kMostThreads)
    return cuda::kInvalidValue;
  const sim::ptx::Function& f = function.kernel->function();
  if (f.requiredThreads[0])
    for (size_t i = 0; i < 3; ++i)
      if (shape.block[i] != uint32_t(std::max(f.requiredThreads[i], 1))) return cuda::kInvalidValue;
  if (volume(shape.block) > uint64_t(function.maxThreads())) // by .maxntid, or by registers
    return f.maxThreads[0] ? cuda::kInvalidValue : cuda::kLaunchOutOfResources;
  if (shape.sharedBytes > uint32_t(function.maxDynamicShared())) return cuda::kInvalidValue;
  const std::array<uint32_t, 3> cluster = clusterOf(function, shape);
  int nonPortable = 0, mustBeSet = 0;
  function.attribute(kFunctionNonPortable, nonPortable);
  function.attribute(kFunctionClusterMustBeSet, mustBeSet);
  if (volume(cluster) > 1 && limits.major < 9) return cuda::kNotSupported;
  if (volume(cluster) > (nonPortable ? kMostCluster : kPortableCluster)) return cuda::kInvalidClusterSize;
  if (f.requiredCluster[0] && shape.cluster[0])
    for (size_t i = 0; i < 3; ++i)
      if (cluster[i] != uint32_t(std::max(f.requiredCluster[i], 1))) return cuda::kInvalidClusterSize;
  for (size_t i = 0; i < 3; ++i)
    if (shape.grid[i] % cluster[i]) return cuda::kInvalidValue;
  if (shape.cooperative) {
    const int held = blocksPerMultiprocessor(function, int(volume(shape.block)), shape.sharedBytes);
    if (volume(shape.grid) > uint64_t(held) * uint64_t(limits.multiprocessors)) return cuda::kCooperativeLaunchTooLarge;
  }
  return cuda::kSuccess;
}

/// A block of parameters: its address and size stand in a list of words that ends with null.
Result takeBlock(void** extra, std::vector<std::byte>& parameters) {
  const void* from = nullptr;
  size_t bytes = 0;
  for (; *extra; extra += 2) {
    if (*extra == cuda::kLaunchBufferPointer)
      from = extra[1];
    else if (*extra == cuda::kLaunchBufferSize)
      bytes = *static_cast<const size_t*>(extra[1]);
    else
      return cuda::kInvalidValue;
  }
  if (bytes && !from) return cuda::kInvalidValue;
  std::memcpy(parameters.data(), from, std::min(bytes, parameters.size()));
  // A compiler that pads structures may give more than the kernel has; one that gives less leaves parameters without a value.
  return bytes >= parameters.size() ? cuda::kSuccess : cuda::kInvalidValue;
}

/// Where the blocks of a cooperative grid count each other in.
struct GridWorkspace {
  uint32_t bytes = sizeof(GridWorkspace), barrier = 0;
};

/// The buffers, which stay in order of their addresses, and the workspace.
const std::vector<Buffer>& addTo(std::vector<Buffer>& buffers, const GridWorkspace& workspace) {
  Buffer own;
  own.name = "the grid's barrier";
  own.begin = own.viewBegin = reinterpret_cast<uint64_t>(&workspace);
  own.end = own.viewEnd = own.begin + sizeof workspace;
  buffers.insert(std::ranges::upper_bound(buffers, own.begin, {}, &Buffer::begin), std::move(own));
  return buffers;
}

} // namespace

int blocksPerMultiprocessor(const Function& function, int threads, size_t dynamicShared) {
  const Limits& limits = function.module->context().device.limits();
  if (threads < 1 || threads > function.maxThreads()) return 0;
  constexpr int kWarp = 32, kRegisterGroup = 256;
  const auto up = [](int64_t value, int64_t group) { return (value + group - 1) / group * group; };
  const int64_t warps = up(threads, kWarp) / kWarp;
  const int64_t ofBlock = up(int64_t(function.registers()) * kWarp, kRegisterGroup) * warps;
  const int64_t shared =
      up(int64_t(function.kernel->staticShared()) + int64_t(dynamicShared) + limits.sharedReserved, kSharedGroup);
  if (shared - limits.sharedReserved > limits.sharedOptin) return 0;
  const int64_t byWarps = limits.threadsPerMultiprocessor / kWarp / warps;
  return int(std::min({int64_t(limits.blocksPerMultiprocessor), byWarps, limits.registersPerMultiprocessor / ofBlock,
                       limits.sharedPerMultiprocessor / shared}));
}

Result setAttribute(LaunchShape& shape, const LaunchAttribute& attribute) {
  switch (int(attribute.id)) {
  case cuda::kLaunchCooperative: shape.cooperative = attribute.flag != 0; break;
  case int(kLaunchPriority): shape.priority = attribute.flag; break;
  case cuda::kLaunchClusterDimension:
    shape.cluster = {attribute.cluster.x, attribute.cluster.y, attribute.cluster.z};
    return volume(shape.cluster) ? cuda::kSuccess : cuda::kInvalidClusterSize;
  default: break;
  }
  return cuda::kSuccess;
}

Result getAttribute(const LaunchShape& shape, LaunchAttribute& attribute) {
  constexpr int kMost = 18;
  const int id = attribute.id;
  if (id < 1 || id > kMost) return cuda::kInvalidValue;
  std::memset(attribute.room, 0, sizeof attribute.room);
  if (id == cuda::kLaunchCooperative) attribute.flag = shape.cooperative;
  if (id == int(kLaunchPriority)) attribute.flag = shape.priority;
  if (id == cuda::kLaunchClusterDimension) attribute.cluster = {shape.cluster[0], shape.cluster[1], shape.cluster[2]};
  return cuda::kSuccess;
}

Result shapeOf(const LaunchConfig& config, LaunchShape& shape) {
  shape.grid = {config.gridX, config.gridY, config.gridZ};
  shape.block = {config.blockX, config.blockY, config.blockZ};
  shape.sharedBytes = config.sharedBytes;
  if (config.attributeCount && !config.attributes) return cuda::kInvalidValue;
  for (unsigned i = 0; i < config.attributeCount; ++i)
    if (const Result result = setAttribute(shape, config.attributes[i])) return result;
  return cuda::kSuccess;
}

void** LaunchWork::addresses() const {
  if (addresses_.empty())
    for (size_t i = 0; i < function->kernel->function().parameters.size(); ++i)
      addresses_.push_back(const_cast<std::byte*>(parameters.data()) + function->kernel->parameterOffset(i));
  return addresses_.data();
}

Result prepareLaunch(Context& context, const void* handle, const LaunchShape& shape, void** parameters, void** extra,
                     std::shared_ptr<LaunchWork>& work) {
  std::shared_ptr<Function> function;
  if (const Result result = findFunction(context, handle, function)) return result;
  if (&function->module->context() != &context) return kInvalidHandle;
  if (const Result result = checkShape(context, *function, shape)) return result;
  auto made = std::make_shared<LaunchWork>(function, shape);
  made->shape.cluster = clusterOf(*function, shape);
  made->asked = handle;
  const auto& declared = function->kernel->function().parameters;
  made->parameters.resize(function->kernel->parameterBytes());
  if (parameters) {
    for (size_t i = 0; i < declared.size(); ++i) {
      if (!parameters[i]) return cuda::kInvalidValue;
      std::memcpy(made->parameters.data() + function->kernel->parameterOffset(i), parameters[i],
                  size_t(declared[i].bytes));
    }
  } else if (extra) {
    if (const Result result = takeBlock(extra, made->parameters)) return result;
  } else if (!declared.empty()) {
    return cuda::kInvalidValue;
  }
  work = std::move(made);
  return cuda::kSuccess;
}

Result LaunchWork::run(Context& context) {
  const std::shared_ptr<const std::vector<Buffer>> buffers =
      DeviceMemory::instance().buffers(context.device, context.peers);
  FindingCollector findings;
  sim::LaunchParams params;
  params.grid = shape.grid;
  params.block = shape.block;
  params.cluster = shape.cluster;
  params.dynamicShared = shape.sharedBytes;
  if (!Settings::get().isExact) params.sharedGranularity = kSharedGroup;
  params.parameters = parameters;
  params.buffers = *buffers;
  GridWorkspace workspace;
  std::vector<Buffer> withWorkspace;
  if (shape.cooperative) {
    params.gridWorkspace = reinterpret_cast<uint64_t>(&workspace);
    withWorkspace = *buffers;
    params.buffers = addTo(withWorkspace, workspace);
  }
  params.checks = Settings::get().checks;
  params.findings = &findings;
  params.print = [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  };
  const sim::Kernel& kernel = *function->kernel;
  const std::shared_ptr<sim::DeviceHeap> heap = kernel.usesHeap() ? context.makeHeap() : context.heap();
  params.heap = heap.get();
  if (kernel.usesPrintf()) context.hasPrinted = true;
  const sim::Result result = sim::launch(kernel, params);
  reportFindings(kernel.name(), findings.take());
  if (result.trap) {
    reportTrap(kernel.name(), result.trap);
    context.error = resultOf(result.trap);
  }
  if (result.printed > context.limits[kLimitPrintf])
    reportLostOutput(kernel.name(), result.printed, context.limits[kLimitPrintf]);
  return cuda::kSuccess;
}

} // namespace tiletwin::driver
