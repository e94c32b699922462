// sim/driver/PoolCalls.cpp -- memory pools, and memory that is made and given back in a stream's order.
// A pool keeps nothing: what is given back is free at once. So reserved memory is used memory.
#include "sim/driver/DeviceMemory.h"
#include "sim/driver/GraphMemory.h"
#include "sim/driver/MemoryApi.h"
#include "sim/driver/Pools.h"
#include "sim/driver/Stream.h"
#include "sim/driver/VirtualDevice.h"
#include <algorithm>

namespace tiletwin::driver {

std::shared_ptr<Pool> Pool::make(VirtualDevice& device) {
  static std::atomic<uint64_t> made{0};
  auto pool = std::make_shared<Pool>();
  pool->device = &device;
  pool->number = ++made;
  pool->handle = static_cast<PoolHandle>(Handles<Pool>::instance().add(pool));
  return pool;
}

void Pool::take(uint64_t bytes) {
  const uint64_t now = used += bytes;
  uint64_t before = highest;
  while (now > before && !highest.compare_exchange_weak(before, now)) {}
}

Result giveBack(DevicePointer address) {
  uint64_t bytes = 0;
  const void* pool = nullptr;
  const Result result = DeviceMemory::instance().release(address, [&](const Allocation& a) {
    bytes = a.bytes;
    pool = a.pool;
    return a.kind == MemoryKind::Pool || a.kind == MemoryKind::Device || (a.kind == MemoryKind::Imported && a.pool);
  });
  if (const std::shared_ptr<Pool> owner = result ? nullptr : find<Pool>(pool)) owner->used -= bytes;
  return result;
}

namespace {

struct DevicePools {
  std::shared_ptr<Pool> own, current;
};

std::array<DevicePools, 16>& allPools() {
  static auto* const all = new std::array<DevicePools, 16>; // clients free memory at their exit
  return *all;
}

/// body(a device's pools), no other thread beside it.
template <class Body> Result onPools(DeviceHandle handle, const Body& body) noexcept {
  return inDriver([&] {
    static std::mutex mutex;
    VirtualDevice* device = VirtualDevice::find(handle);
    if (!device) return cuda::kInvalidDevice;
    const std::lock_guard lock(mutex);
    DevicePools& pools = allPools()[size_t(handle)];
    if (!pools.own) pools.own = pools.current = Pool::make(*device);
    return body(pools);
  });
}

/// A stream that is captured gets a node that makes the memory.
Result allocateInGraph(Context& context, Stream& stream, const VirtualDevice& device, DevicePointer* address,
                       size_t bytes) {
  GraphAllocParams params{};
  params.properties.allocationType = 1;
  params.properties.location = {1, device.ordinal()};
  params.bytes = bytes;
  const std::shared_ptr<GraphMemory> memory = GraphMemory::make(context, params);
  if (!memory) return cuda::kOutOfMemory;
  *address = memory->params().address;
  return stream.give(std::make_shared<AllocWork>(memory));
}

Result allocate(Context& context, Pool& pool, DevicePointer* address, size_t bytes, StreamHandle handle) {
  const std::shared_ptr<Stream> stream = Stream::find(context, handle);
  if (!stream) return kInvalidHandle;
  if (!address) return cuda::kInvalidValue;
  *address = 0;
  if (pool.process) return kNotPermitted; // another process's
  if (!bytes) return cuda::kSuccess;      // nothing, as a driver has it
  if (stream->capture()) return allocateInGraph(context, *stream, *pool.device, address, bytes);
  if (pool.largest && bytes > pool.largest - std::min<uint64_t>(pool.used, pool.largest)) return cuda::kOutOfMemory;
  Allocation wanted;
  wanted.bytes = bytes;
  wanted.kind = MemoryKind::Pool;
  wanted.device = pool.device;
  wanted.context = context.id;
  wanted.pool = pool.handle;
  uint64_t at = 0;
  if (const Result result = DeviceMemory::instance().allocate(std::move(wanted), at)) return result;
  pool.take(bytes);
  *address = at;
  return cuda::kSuccess;
}

/// Gives memory back in a stream's order.
class PoolFreeWork final : public Work {
public:
  explicit PoolFreeWork(DevicePointer address) : Work(kNodeMemoryFree), address(address) {}
  Result run(Context&) override {
    if (const std::shared_ptr<GraphMemory> memory = GraphMemory::find(address)) return memory->giveBack();
    return giveBack(address);
  }
  DevicePointer address;
};

} // namespace

extern "C" {

Result cuDeviceGetDefaultMemPool(PoolHandle* pool, DeviceHandle device) {
  return onPools(device, [&](const DevicePools& pools) {
    if (!pool) return cuda::kInvalidValue;
    *pool = pools.own->handle;
    return cuda::kSuccess;
  });
}

Result cuDeviceGetMemPool(PoolHandle* pool, DeviceHandle device) {
  return onPools(device, [&](const DevicePools& pools) {
    if (!pool) return cuda::kInvalidValue;
    *pool = pools.current->handle;
    return cuda::kSuccess;
  });
}

Result cuDeviceSetMemPool(DeviceHandle device, PoolHandle handle) {
  return onPools(device, [&](DevicePools& pools) {
    const std::shared_ptr<Pool> pool = find<Pool>(handle);
    if (!pool || pool->process || pool->device->ordinal() != device) return cuda::kInvalidValue;
    pools.current = pool;
    return cuda::kSuccess;
  });
}

Result cuMemAllocAsync(DevicePointer* address, size_t bytes, StreamHandle stream) {
  return inContext([&](Context& context) {
    PoolHandle handle = nullptr;
    if (const Result result = cuDeviceGetMemPool(&handle, context.device.ordinal())) return result;
    const std::shared_ptr<Pool> pool = find<Pool>(handle);
    return pool ? allocate(context, *pool, address, bytes, stream) : cuda::kInvalidValue;
  });
}

Result cuMemAllocFromPoolAsync(DevicePointer* address, size_t bytes, PoolHandle handle, StreamHandle stream) {
  return inContext([&](Context& context) {
    const std::shared_ptr<Pool> pool = find<Pool>(handle);
    return pool ? allocate(context, *pool, address, bytes, stream) : cuda::kInvalidValue;
  });
}

Result cuMemFreeAsync(DevicePointer address, StreamHandle handle) {
  return inContext([&](Context& context) {
    const std::shared_ptr<Stream> stream = Stream::find(context, handle);
    if (!stream) return kInvalidHandle;
    if (!address) return cuda::kSuccess;
    if (stream->capture()) return stream->give(std::make_shared<FreeWork>(address));
    return stream->give(std::make_shared<PoolFreeWork>(address));
  });
}

Result cuMemPoolCreate(PoolHandle* handle, const PoolProperties* properties) {
  return inDriver([&] {
    constexpr int kPinned = 1, kOnDevice = 1;
    if (!handle || !properties || properties->allocationType != kPinned) return cuda::kInvalidValue;
    if (properties->location.type != kOnDevice) return cuda::kNotSupported;
    if (properties->handleTypes & ~kFileDescriptor) return cuda::kNotSupported;
    VirtualDevice* device = VirtualDevice::find(properties->location.id);
    if (!device) return cuda::kInvalidDevice;
    const std::shared_ptr<Pool> pool = Pool::make(*device);
    pool->largest = properties->largest;
    pool->isShared = properties->handleTypes != 0;
    *handle = pool->handle;
    return cuda::kSuccess;
  });
}

Result cuMemPoolDestroy(PoolHandle handle) {
  return onPool(handle, [&](const Pool& pool) {
    const int ordinal = pool.device->ordinal();
    return onPools(ordinal, [&](DevicePools& pools) {
      if (pools.own->handle == handle) return cuda::kInvalidValue; // the device's own stays
      if (pools.current->handle == handle) pools.current = pools.own;
      Handles<Pool>::instance().take(handle);
      return cuda::kSuccess;
    });
  });
}

Result cuMemPoolTrimTo(PoolHandle handle, size_t bytes) {
  return onPool(handle, [](const Pool&) { return cuda::kSuccess; });
}

Result cuMemPoolSetAttribute(PoolHandle handle, int attribute, void* value) {
  return onPool(handle, [&](Pool& pool) {
    if (!value) return cuda::kInvalidValue;
    switch (attribute) {
    case kPoolReuseFollowEvents:
    case kPoolReuseOpportunistic:
    case kPoolReuseInternalDependencies:
      pool.reuse[size_t(attribute - kPoolReuseFollowEvents)] = *static_cast<const int*>(value);
      return cuda::kSuccess;
    case kPoolReleaseThreshold: pool.threshold = *static_cast<const uint64_t*>(value); return cuda::kSuccess;
    case kPoolReservedHigh:
    case kPoolUsedHigh: // may be set to 0 alone
      if (*static_cast<const uint64_t*>(value)) return cuda::kInvalidValue;
      pool.highest = pool.used.load();
      return cuda::kSuccess;
    default: return cuda::kInvalidValue;
    }
  });
}

Result cuMemPoolGetAttribute(PoolHandle handle, int attribute, void* value) {
  return onPool(handle, [&](const Pool& pool) {
    if (!value) return cuda::kInvalidValue;
    switch (attribute) {
    case kPoolReuseFollowEvents:
    case kPoolReuseOpportunistic:
    case kPoolReuseInternalDependencies:
      *static_cast<int*>(value) = pool.reuse[size_t(attribute - kPoolReuseFollowEvents)];
      return cuda::kSuccess;
    case kPoolReleaseThreshold: *static_cast<uint64_t*>(value) = pool.threshold; return cuda::kSuccess;
    case kPoolReservedCurrent:
    case kPoolUsedCurrent: *static_cast<uint64_t*>(value) = pool.used; return cuda::kSuccess;
    case kPoolReservedHigh:
    case kPoolUsedHigh: *static_cast<uint64_t*>(value) = pool.highest; return cuda::kSuccess;
    default: return cuda::kInvalidValue;
    }
  });
}

// One device's pool for another one: kernels of that device need peer access all the same.
Result cuMemPoolSetAccess(PoolHandle handle, const AccessDescription* access, size_t count) {
  return onPool(handle, [&](const Pool& pool) {
    if (count && !access) return cuda::kInvalidValue;
    for (size_t i = 0; i < count; ++i) {
      if (!VirtualDevice::find(access[i].location.id)) return cuda::kInvalidDevice;
      const bool isOwn = access[i].location.id == pool.device->ordinal();
      if (isOwn && !access[i].flags) return cuda::kInvalidValue; // it cannot be taken from its own device
      if (!isOwn && access[i].flags) return cuda::kNotSupported;
    }
    return cuda::kSuccess;
  });
}

Result cuMemPoolGetAccess(int* flags, PoolHandle handle, Location* location) {
  return onPool(handle, [&](const Pool& pool) {
    constexpr int kReadsAndWrites = 3;
    if (!flags || !location) return cuda::kInvalidValue;
    *flags = location->id == pool.device->ordinal() ? kReadsAndWrites : 0;
    return cuda::kSuccess;
  });
}

} // extern "C"
} // namespace tiletwin::driver
