// sim/driver/MemoryCalls.cpp -- the driver's functions that make memory, give it back and tell about it.
#include "sim/driver/Call.h"
#include "sim/driver/DeviceMemory.h"
#include "sim/driver/GraphMemory.h"
#include "sim/driver/MemoryApi.h"
#include "sim/driver/Pools.h"
#include "sim/driver/Stream.h"
#include "sim/driver/VirtualDevice.h"

namespace tiletwin::driver {
namespace {

Result makeMemory(Context& context, MemoryKind kind, size_t bytes, unsigned flags, uint64_t& address) {
  if (!bytes) return cuda::kInvalidValue;
  Allocation wanted;
  wanted.bytes = bytes;
  wanted.kind = kind;
  wanted.flags = flags;
  wanted.device = &context.device;
  wanted.context = context.id;
  return DeviceMemory::instance().allocate(std::move(wanted), address);
}

Result makeHostMemory(void** address, size_t bytes, unsigned flags) noexcept {
  return inContext([&](Context& context) {
    uint64_t at = 0;
    if (!address || flags & ~(kHostPortable | kHostDeviceMap | kHostWriteCombined)) return cuda::kInvalidValue;
    if (const Result result = makeMemory(context, MemoryKind::Host, bytes, flags, at)) return result;
    *address = reinterpret_cast<void*>(at); // NOLINT: an address
    return cuda::kSuccess;
  });
}

std::optional<Allocation> hostMemory(const void* host) {
  std::optional<Allocation> found = DeviceMemory::instance().find(reinterpret_cast<uint64_t>(host));
  return found && found->isOfHost() ? found : std::nullopt;
}

template <class T> Result put(void* value, T answer) {
  *static_cast<T*>(value) = answer; // clients give a place for the attribute's own type
  return cuda::kSuccess;
}

/// CU_POINTER_ATTRIBUTE_* of an address in an allocation.
Result pointerAttribute(void* value, int attribute, const Allocation& memory, DevicePointer address) {
  const bool isManaged = memory.kind == MemoryKind::Managed;
  switch (attribute) {
  case kPointerContext: {
    ContextHandle handle = nullptr;
    if (const Context& primary = *memory.device->primary(); primary.id == memory.context) handle = primary.handle;
    if (const Context* current = Context::current(); current && current->id == memory.context) handle = current->handle;
    return put(value, memory.pool ? nullptr : handle);
  }
  case kPointerMemoryType: return put(value, memory.isOfHost() ? kHostMemory : kDeviceMemory);
  case kPointerDevicePointer: return put(value, address);
  case kPointerHostPointer:
    if (!memory.isOfHost() && !isManaged) return cuda::kInvalidValue;
    return put(value, address);
  case kPointerSyncMemops: return put(value, 0);
  case kPointerBufferId: return put(value, memory.number + 1);
  case kPointerIsManaged: return put(value, unsigned(isManaged));
  case kPointerDeviceOrdinal: return put(value, memory.device->ordinal());
  case kPointerIsLegacyIpcCapable: return put(value, unsigned(memory.kind == MemoryKind::Device));
  case kPointerRangeStart: return put(value, memory.begin);
  case kPointerRangeSize: return put(value, size_t(memory.bytes));
  case kPointerMapped: return put(value, 1u);
  case kPointerAllowedHandleTypes: {
    const std::shared_ptr<Pool> pool = memory.pool ? find<Pool>(memory.pool) : nullptr;
    return put(value, uint64_t(pool && pool->isShared ? kFileDescriptor : 0));
  }
  case kPointerIsRdmaCapable: return put(value, 0u);
  case kPointerAccessFlags: return put(value, 3u);
  case kPointerMempool: return put(value, memory.pool);
  default: return cuda::kInvalidValue;
  }
}

} // namespace

extern "C" {

Result cuMemGetInfo_v2(size_t* free, size_t* total) {
  return inContext([&](Context& context) {
    if (!free || !total) return cuda::kInvalidValue;
    *total = context.device.memoryBytes();
    *free = *total - context.device.takenMemory();
    return cuda::kSuccess;
  });
}

Result cuMemAlloc_v2(DevicePointer* address, size_t bytes) {
  return inContext([&](Context& context) {
    uint64_t at = 0;
    if (!address) return cuda::kInvalidValue;
    if (const Result result = makeMemory(context, MemoryKind::Device, bytes, 0, at)) return result;
    *address = at;
    return cuda::kSuccess;
  });
}

Result cuMemAllocPitch_v2(DevicePointer* address, size_t* pitch, size_t width, size_t height, unsigned elementBytes) {
  constexpr size_t kPitch = 512;
  if (!pitch || !width || !height || width > SIZE_MAX / 2) return cuda::kInvalidValue;
  if (elementBytes != 4 && elementBytes != 8 && elementBytes != 16) return cuda::kInvalidValue;
  const size_t row = (width + kPitch - 1) / kPitch * kPitch;
  size_t bytes = 0;
  if (__builtin_mul_overflow(row, height, &bytes)) return cuda::kOutOfMemory;
  const Result result = cuMemAlloc_v2(address, bytes);
  if (!result) *pitch = row;
  return result;
}

Result cuMemFree_v2(DevicePointer address) {
  return inContext([&](Context& context) {
    if (!address) return cuda::kSuccess;
    const auto others = context.waitForOthers(); // whatever is under way may use it
    if (const std::shared_ptr<GraphMemory> memory = GraphMemory::find(address)) return memory->giveBack();
    if (const Result result = giveBack(address); result != cuda::kInvalidValue) return result;
    return DeviceMemory::instance().release(address, [](const Allocation& a) { return a.kind == MemoryKind::Managed; });
  });
}

Result cuMemGetAddressRange_v2(DevicePointer* begin, size_t* bytes, DevicePointer address) {
  return inContext([&](Context&) {
    const std::optional<Allocation> found = DeviceMemory::instance().find(address);
    if (!found) return cuda::kNotFound;
    if (begin) *begin = found->begin;
    if (bytes) *bytes = found->bytes;
    return cuda::kSuccess;
  });
}

Result cuMemAllocHost_v2(void** address, size_t bytes) { return makeHostMemory(address, bytes, 0); }
Result cuMemHostAlloc(void** address, size_t bytes, unsigned flags) { return makeHostMemory(address, bytes, flags); }

Result cuMemFreeHost(void* address) {
  return inContext([&](Context& context) {
    const auto others = context.waitForOthers();
    return DeviceMemory::instance().release(reinterpret_cast<uint64_t>(address),
                                            [](const Allocation& a) { return a.kind == MemoryKind::Host; });
  });
}

Result cuMemHostGetDevicePointer_v2(DevicePointer* address, void* host, unsigned flags) {
  return inContext([&](Context&) {
    if (!address || flags || !hostMemory(host)) return cuda::kInvalidValue;
    *address = reinterpret_cast<uint64_t>(host);
    return cuda::kSuccess;
  });
}

Result cuMemHostGetFlags(unsigned* flags, void* host) {
  return inContext([&](Context&) {
    const std::optional<Allocation> found = hostMemory(host);
    if (!flags || !found) return cuda::kInvalidValue;
    *flags = found->flags | kHostDeviceMap; // with one address for host and devices all of it is mapped
    return cuda::kSuccess;
  });
}

Result cuMemHostRegister_v2(void* address, size_t bytes, unsigned flags) {
  return inContext([&](Context& context) {
    if (!address || !bytes) return cuda::kInvalidValue;
    Allocation known;
    known.begin = reinterpret_cast<uint64_t>(address);
    known.bytes = bytes;
    known.kind = MemoryKind::Registered;
    known.flags = flags;
    known.device = &context.device;
    known.context = context.id;
    return DeviceMemory::instance().add(std::move(known));
  });
}

Result cuMemHostUnregister(void* address) {
  return inContext([&](Context&) {
    const Result result = DeviceMemory::instance().release(
        reinterpret_cast<uint64_t>(address), [](const Allocation& a) { return a.kind == MemoryKind::Registered; });
    return result ? kHostMemoryNotRegistered : cuda::kSuccess;
  });
}

Result cuMemAllocManaged(DevicePointer* address, size_t bytes, unsigned flags) {
  return inContext([&](Context& context) {
    uint64_t at = 0;
    if (!address || (flags != kAttachGlobal && flags != kAttachHost)) return cuda::kInvalidValue;
    if (const Result result = makeMemory(context, MemoryKind::Managed, bytes, flags, at)) return result;
    *address = at;
    return cuda::kSuccess;
  });
}

Result cuPointerGetAttribute(void* value, int attribute, DevicePointer address) {
  return inDriver([&] {
    const std::optional<Allocation> found = DeviceMemory::instance().find(address);
    if (!value || !found) return cuda::kInvalidValue;
    return pointerAttribute(value, attribute, *found, address);
  });
}

// Of an address that the driver does not know every answer is 0, and that is no error.
Result cuPointerGetAttributes(unsigned count, int* attributes, void** values, DevicePointer address) {
  return inDriver([&] {
    if (!attributes || !values) return cuda::kInvalidValue;
    const std::optional<Allocation> found = DeviceMemory::instance().find(address);
    for (unsigned i = 0; i < count; ++i) {
      if (found && !pointerAttribute(values[i], attributes[i], *found, address)) continue;
      switch (attributes[i]) {
      case kPointerDeviceOrdinal: put(values[i], -2); break; // as a driver has it for what is not its own
      case kPointerMemoryType:
      case kPointerSyncMemops:
      case kPointerIsManaged:
      case kPointerIsLegacyIpcCapable:
      case kPointerMapped:
      case kPointerIsRdmaCapable:
      case kPointerAccessFlags: put(values[i], 0); break;
      default: put(values[i], uint64_t(0)); break;
      }
    }
    return cuda::kSuccess;
  });
}

Result cuPointerSetAttribute(const void* value, int attribute, DevicePointer address) {
  return inDriver([&] {
    if (!value || attribute != kPointerSyncMemops) return cuda::kInvalidValue;
    return DeviceMemory::instance().find(address) ? cuda::kSuccess : cuda::kInvalidValue;
  });
}

} // extern "C"
} // namespace tiletwin::driver
