// sim/driver/GraphMemory.cpp -- see GraphMemory.h.
#include "sim/driver/GraphMemory.h"
#include "sim/driver/Context.h"
#include "sim/driver/DeviceMemory.h"
#include "sim/driver/VirtualDevice.h"
#include <algorithm>
#include <map>
#include <mutex>

namespace tiletwin::driver {
namespace {

enum { kInUse, kMostInUse, kReserved, kMostReserved };

struct Known {
  std::mutex mutex;
  std::map<DevicePointer, std::weak_ptr<GraphMemory>> memories; // under mutex
};
Known& known() {
  static Known* const all = new Known; // clients free memory at their exit
  return *all;
}

/// Of graphs that are gone: bytes that were in use, and that were reserved.
std::array<std::atomic<uint64_t>, 2>& goneMemoryOf(int device) {
  static std::array<std::array<std::atomic<uint64_t>, 2>, 16> all{};
  return all[size_t(device)];
}

void grow(int device, int now, uint64_t bytes) {
  auto& counts = graphMemoryOf(device);
  const uint64_t sum = counts[size_t(now)] += bytes;
  uint64_t most = counts[size_t(now) + 1];
  while (sum > most && !counts[size_t(now) + 1].compare_exchange_weak(most, sum)) {}
}

} // namespace

std::array<std::atomic<uint64_t>, 4>& graphMemoryOf(int device) {
  static std::array<std::array<std::atomic<uint64_t>, 4>, 16> all{};
  return all[size_t(device)];
}

void trimGraphMemory(int device) {
  graphMemoryOf(device)[kInUse] -= goneMemoryOf(device)[0].exchange(0);
  graphMemoryOf(device)[kReserved] -= goneMemoryOf(device)[1].exchange(0);
}

GraphMemory::GraphMemory(VirtualDevice& device, const GraphAllocParams& params)
    : device_(device), params_(params), access_(params.access, params.access + params.accessCount) {
  params_.access = nullptr;
}

std::shared_ptr<GraphMemory> GraphMemory::make(Context& context, const GraphAllocParams& params) {
  constexpr int kManaged = 2, kOnDevice = 1;
  const Location& location = params.properties.location;
  VirtualDevice* const named = location.type == kOnDevice ? VirtualDevice::find(location.id) : nullptr;
  VirtualDevice& device = named ? *named : context.device;
  Allocation wanted;
  wanted.bytes = params.bytes;
  wanted.kind = params.properties.allocationType == kManaged ? MemoryKind::Managed : MemoryKind::Pool;
  wanted.flags = params.properties.allocationType == kManaged ? kAttachGlobal : 0;
  wanted.device = &device;
  wanted.context = context.id;
  uint64_t at = 0;
  if (DeviceMemory::instance().allocate(std::move(wanted), at)) return nullptr;
  std::shared_ptr<GraphMemory> made(new GraphMemory(device, params));
  made->params_.address = at;
  grow(device.ordinal(), kReserved, params.bytes);
  const std::lock_guard lock(known().mutex);
  known().memories[at] = made;
  return made;
}

std::shared_ptr<GraphMemory> GraphMemory::find(DevicePointer address) {
  const std::lock_guard lock(known().mutex);
  const auto at = known().memories.find(address);
  return at == known().memories.end() ? nullptr : at->second.lock();
}

GraphMemory::~GraphMemory() {
  {
    const std::lock_guard lock(known().mutex);
    known().memories.erase(params_.address);
  }
  goneMemoryOf(device_.ordinal())[1] += params_.bytes;
  if (wasUsed_) goneMemoryOf(device_.ordinal())[0] += params_.bytes;
  if (!isInUse_) DeviceMemory::instance().release(params_.address, [](const Allocation&) { return true; });
}

GraphAllocParams GraphMemory::params() const {
  GraphAllocParams params = params_;
  params.access = access_.data();
  return params;
}

Result GraphMemory::take() {
  if (isInUse_.exchange(true)) return cuda::kInvalidValue;
  if (!wasUsed_.exchange(true)) grow(device_.ordinal(), kInUse, params_.bytes);
  return cuda::kSuccess;
}

Result GraphMemory::giveBack() { return isInUse_.exchange(false) ? cuda::kSuccess : cuda::kInvalidValue; }

Result FreeWork::run(Context&) {
  if (const std::shared_ptr<GraphMemory> memory = GraphMemory::find(address)) return memory->giveBack();
  return DeviceMemory::instance().release(address, [](const Allocation& a) {
    return a.kind == MemoryKind::Pool || a.kind == MemoryKind::Device || a.kind == MemoryKind::Managed;
  });
}

} // namespace tiletwin::driver
