// sim/driver/PoolCalls.cpp -- memory pools, and memory that is made and given back in a stream's order.
// A pool keeps nothing: what is given back is free at once. So reserved memory is used memory.
#include "sim/driver/DeviceMemory.h"
#include "sim/driver/GraphMemory.h"
#include "sim/driver/MemoryApi.h"
#include "sim/driver/Pools.h"
#include "sim/driver/Stream.h"
#include "sim/driver/VirtualDevice.h"
#include <algorithm>
#include <map>

namespace tiletwin::driver {

std::shared_ptr<Pool> Pool::make(VirtualDevice& device, MemoryKind kind) {
  static std::atomic<uint64_t> made{0};
  auto pool = std::make_shared<Pool>();
  pool->device = &device;
  pool->kind = kind;
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
    return a.kind == MemoryKind::Pool || a.kind == MemoryKind::Device || a.pool;
  });
  if (const std::shared_ptr<Pool> owner = result ? nullptr : find<Pool>(pool)) owner->used -= bytes;
  return result;
}

namespace {

constexpr int kNowhere = 0, kOnDevice = 1, kOnHost = 2; // CU_MEM_LOCATION_TYPE_*
constexpr int kPinned = 1, kManaged = 2;                // CU_MEM_ALLOCATION_TYPE_*

/// What memory of a type at a place is, and whose. Not kSuccess: there are no pools of it.
Result kindOf(const Location& location, int type, MemoryKind& kind, VirtualDevice*& device) {
  const auto [where, id] = location;
  if (type != kManaged && (type != kPinned || where == kNowhere)) return cuda::kInvalidValue;
  if (where < kNowhere || where > kOnHost) return cuda::kNotSupported; // a node of the host's memory
  kind = type == kManaged ? MemoryKind::Managed : where == kOnHost ? MemoryKind::Host : MemoryKind::Pool;
  device = VirtualDevice::find(where == kOnDevice ? id : 0);
  return device ? cuda::kSuccess : cuda::kInvalidDevice;
}

struct DevicePools {
  std::shared_ptr<Pool> own, current;
};

/// Those of a device, by kind: memory of the host is the first one's.
DevicePools& poolsOf(const VirtualDevice& device, MemoryKind kind) {
  static auto* const all = new std::map<std::pair<int, MemoryKind>, DevicePools>; // clients free memory at their exit
  return (*all)[{device.ordinal(), kind}];
}

/// body(the pools of memory of a type at a place), no other thread beside it.
template <class Body> Result onPools(const Location& location, int type, const Body& body) noexcept {
  return inDriver([&] {
    static std::mutex mutex;
    MemoryKind kind{};
    VirtualDevice* device = nullptr;
    if (const Result result = kindOf(location, type, kind, device)) return result;
    const std::lock_guard lock(mutex);
    DevicePools& pools = poolsOf(*device, kind);
    if (!pools.own) pools.own = pools.current = Pool::make(*device, kind);
    return body(pools);
  });
}
template <class Body> Result onPools(DeviceHandle device, const Body& body) noexcept {
  return onPools({kOnDevice, device}, kPinned, body);
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
  wanted.kind = pool.kind;
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

Result cuMemGetDefaultMemPool(PoolHandle* pool, Location* location, int type) {
  if (!pool || !location) return cuda::kInvalidValue;
  return onPools(*location, type, [&](const DevicePools& pools) {
    *pool = pools.own->handle;
    return cuda::kSuccess;
  });
}
Result cuDeviceGetDefaultMemPool(PoolHandle* pool, DeviceHandle device) {
  Location location{kOnDevice, device};
  return cuMemGetDefaultMemPool(pool, &location, kPinned);
}

Result cuMemGetMemPool(PoolHandle* pool, Location* location, int type) {
  if (!pool || !location) return cuda::kInvalidValue;
  return onPools(*location, type, [&](const DevicePools& pools) {
    *pool = pools.current->handle;
    return cuda::kSuccess;
  });
}
Result cuDeviceGetMemPool(PoolHandle* pool, DeviceHandle device) {
  Location location{kOnDevice, device};
  return cuMemGetMemPool(pool, &location, kPinned);
}

Result cuMemSetMemPool(Location* location, int type, PoolHandle handle) {
  if (!location) return cuda::kInvalidValue;
  return onPools(*location, type, [&](DevicePools& pools) {
    const std::shared_ptr<Pool> pool = find<Pool>(handle);
    if (!pool || pool->process || pool->device != pools.own->device || pool->kind != pools.own->kind)
      return cuda::kInvalidValue;
    pools.current = pool;
    return cuda::kSuccess;
  });
}
Result cuDeviceSetMemPool(DeviceHandle device, PoolHandle handle) {
  Location location{kOnDevice, device};
  return cuMemSetMemPool(&location, kPinned, handle);
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
    if (!handle || !properties) return cuda::kInvalidValue;
    MemoryKind kind{};
    VirtualDevice* device = nullptr;
    if (const Result result = kindOf(properties->location, properties->allocationType, kind, device)) return result;
    const int shareable = kind == MemoryKind::Pool ? kFileDescriptor : 0;
    if (properties->handleTypes & ~shareable) return cuda::kNotSupported;
    const std::shared_ptr<Pool> pool = Pool::make(*device, kind);
    pool->largest = properties->largest;
    pool->isShared = properties->handleTypes != 0;
    *handle = pool->handle;
    return cuda::kSuccess;
  });
}

Result cuMemPoolDestroy(PoolHandle handle) {
  return onPool(handle, [&](const Pool& pool) {
    const Location location{pool.kind == MemoryKind::Host ? kOnHost : kOnDevice, pool.device->ordinal()};
    return onPools(location, pool.kind == MemoryKind::Managed ? kManaged : kPinned, [&](DevicePools& pools) {
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
      if (access[i].location.type == kOnHost && pool.kind != MemoryKind::Pool) continue;
      if (!VirtualDevice::find(access[i].location.id)) return cuda::kInvalidDevice;
      if (pool.kind != MemoryKind::Pool) continue; // every device reaches it
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
    const bool isReached = pool.kind != MemoryKind::Pool || location->id == pool.device->ordinal();
    *flags = isReached ? kReadsAndWrites : 0;
    return cuda::kSuccess;
  });
}

} // extern "C"
} // namespace tiletwin::driver
