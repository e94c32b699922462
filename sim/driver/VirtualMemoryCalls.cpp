// sim/driver/VirtualMemoryCalls.cpp -- the driver's functions on memory that a client places itself.
#include "sim/driver/Call.h"
#include "sim/driver/Handles.h"
#include "sim/driver/MemoryApi.h"
#include "sim/driver/VirtualDevice.h"
#include "sim/driver/VirtualMemory.h"
#include <fcntl.h>

namespace tiletwin::driver {
namespace {

constexpr int kPinned = 1, kOnDevice = 1;

/// The device of properties that this driver can make; null: it cannot.
VirtualDevice* deviceOf(const AllocationProperties* properties) {
  if (!properties || properties->type != kPinned || properties->location.type != kOnDevice) return nullptr;
  return VirtualDevice::find(properties->location.id);
}

std::shared_ptr<PhysicalMemory> memoryOf(uint64_t handle) {
  return find<PhysicalMemory>(reinterpret_cast<const void*>(handle)); // NOLINT: a number
}

uint64_t handleOf(std::shared_ptr<PhysicalMemory> memory) {
  return reinterpret_cast<uint64_t>(Handles<PhysicalMemory>::instance().add(std::move(memory)));
}

} // namespace

extern "C" {

Result cuMemGetAllocationGranularity(size_t* bytes, const AllocationProperties* properties, int option) {
  return inDriver([&] {
    if (!bytes || !deviceOf(properties)) return cuda::kInvalidValue;
    *bytes = VirtualMemory::kGranularity;
    return cuda::kSuccess;
  });
}

Result cuMemAddressReserve(DevicePointer* address, size_t bytes, size_t alignment, DevicePointer wanted,
                           unsigned long long flags) {
  return inDriver([&] {
    uint64_t made = 0;
    if (!address || flags) return cuda::kInvalidValue;
    const Result result = VirtualMemory::instance().reserve(bytes, alignment, made); // `wanted` is a wish
    if (!result) *address = made;
    return result;
  });
}

Result cuMemAddressFree(DevicePointer address, size_t bytes) {
  return inDriver([&] { return VirtualMemory::instance().free(address, bytes); });
}

Result cuMemCreate(unsigned long long* handle, size_t bytes, const AllocationProperties* properties,
                   unsigned long long flags) {
  return inDriver([&] {
    VirtualDevice* const device = deviceOf(properties);
    if (!handle || flags || !device || !bytes || bytes % VirtualMemory::kGranularity) return cuda::kInvalidValue;
    if (properties->handleTypes & ~kFileDescriptor) return cuda::kNotSupported;
    std::shared_ptr<PhysicalMemory> memory = PhysicalMemory::make(*device, bytes, *properties);
    if (!memory) return cuda::kOutOfMemory;
    *handle = handleOf(std::move(memory));
    return cuda::kSuccess;
  });
}

Result cuMemRelease(unsigned long long handle) {
  return inDriver([&] {
    const void* const known = reinterpret_cast<const void*>(handle); // NOLINT: a number
    return Handles<PhysicalMemory>::instance().take(known) ? cuda::kSuccess : cuda::kInvalidValue;
  });
}

Result cuMemMap(DevicePointer address, size_t bytes, size_t offset, unsigned long long handle,
                unsigned long long flags) {
  return inDriver([&] {
    std::shared_ptr<PhysicalMemory> memory = memoryOf(handle);
    if (!memory || offset || flags) return cuda::kInvalidValue;
    return VirtualMemory::instance().map(address, bytes, std::move(memory));
  });
}

Result cuMemUnmap(DevicePointer address, size_t bytes) {
  return inDriver([&] { return VirtualMemory::instance().unmap(address, bytes); });
}

Result cuMemSetAccess(DevicePointer address, size_t bytes, const AccessDescription* access, size_t count) {
  return inDriver([&] {
    if (!access || !count) return cuda::kInvalidValue;
    for (size_t i = 0; i < count; ++i) {
      const auto& [location, flags] = access[i];
      if (location.type != kOnDevice || !VirtualDevice::find(location.id)) return cuda::kInvalidDevice;
      if (flags != 0 && flags != kAccessRead && flags != (kAccessRead | kAccessWrite)) return cuda::kInvalidValue;
      if (const Result result = VirtualMemory::instance().setAccess(address, bytes, location.id, flags)) return result;
    }
    return cuda::kSuccess;
  });
}

Result cuMemGetAccess(unsigned long long* flags, const Location* location, DevicePointer address) {
  return inDriver([&] {
    int found = 0;
    if (!flags || !location || location->type != kOnDevice || !VirtualDevice::find(location->id))
      return cuda::kInvalidValue;
    if (const Result result = VirtualMemory::instance().access(address, location->id, found)) return result;
    *flags = unsigned(found);
    return cuda::kSuccess;
  });
}

Result cuMemRetainAllocationHandle(unsigned long long* handle, void* address) {
  return inDriver([&] {
    std::shared_ptr<PhysicalMemory> memory = VirtualMemory::instance().memoryAt(reinterpret_cast<uint64_t>(address));
    if (!handle || !memory) return cuda::kInvalidValue;
    *handle = handleOf(std::move(memory));
    return cuda::kSuccess;
  });
}

Result cuMemExportToShareableHandle(void* shared, unsigned long long handle, int type, unsigned long long flags) {
  return inDriver([&] {
    const std::shared_ptr<PhysicalMemory> memory = memoryOf(handle);
    if (!shared || flags || type != kFileDescriptor || !memory || !memory->properties.handleTypes)
      return cuda::kInvalidValue;
    const int file = fcntl(memory->file, F_DUPFD_CLOEXEC, 0); // the client closes it
    if (file < 0) return kOperatingSystem;
    *static_cast<int*>(shared) = file;
    return cuda::kSuccess;
  });
}

Result cuMemImportFromShareableHandle(unsigned long long* handle, void* shared, int type) {
  return inDriver([&] {
    if (!handle || type != kFileDescriptor) return cuda::kInvalidValue;
    std::shared_ptr<PhysicalMemory> memory = PhysicalMemory::import(int(reinterpret_cast<intptr_t>(shared)));
    if (!memory) return cuda::kInvalidValue;
    *handle = handleOf(std::move(memory));
    return cuda::kSuccess;
  });
}

Result cuMemGetAllocationPropertiesFromHandle(AllocationProperties* properties, unsigned long long handle) {
  return inDriver([&] {
    const std::shared_ptr<PhysicalMemory> memory = memoryOf(handle);
    if (!properties || !memory) return cuda::kInvalidValue;
    *properties = memory->properties;
    return cuda::kSuccess;
  });
}

} // extern "C"
} // namespace tiletwin::driver
