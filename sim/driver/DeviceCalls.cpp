// sim/driver/DeviceCalls.cpp -- the driver's functions on the driver itself and on devices.
#include "runtime/Environment.h"
#include "sim/driver/Call.h"
#include "sim/driver/Functions.h"
#include "sim/driver/VirtualDevice.h"
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <pthread.h>

namespace tiletwin::driver {
namespace {

/// That of the newest toolkit whose functions the tables of Api.h have.
constexpr int kDriverVersion = 13000;

enum class State { Before, Initialized, Lost };

/// Of this process. Lost: it was forked from one that had initialized, as a GPU's driver is then of no use to it.
std::atomic<State> state{State::Before};

/// Lets this process's later forks lose the driver.
bool registerForks() {
  return pthread_atfork(nullptr, nullptr, [] { state = State::Lost; }) == 0;
}

/// body(device) of a device's ordinal.
template <class Body> Result onDevice(DeviceHandle handle, const Body& body) noexcept {
  return inDriver([&] {
    VirtualDevice* device = VirtualDevice::find(handle);
    return device ? body(*device) : cuda::kInvalidDevice;
  });
}

void copyText(const std::string& text, char* to, int bytes) {
  const size_t count = std::min(text.size(), size_t(bytes) - 1);
  std::memcpy(to, text.data(), count);
  to[count] = '\0';
}

} // namespace

bool isInitialized() { return state == State::Initialized; }

void reportFault(const char* what) noexcept { std::fprintf(stderr, "tiletwin gpu: %s\n", what); }

extern "C" {

Result cuInit(unsigned flags) {
  if (flags) return cuda::kInvalidValue;
  return guarded([] {
    if (state == State::Lost) return cuda::kNotInitialized;
    try {
      if (!VirtualDevice::count()) return cuda::kNoDevice;
    } catch (const environment::Error& error) {
      reportFault(error.what());
      return cuda::kInvalidValue;
    }
    static const bool forksAreSeen = registerForks();
    if (!forksAreSeen) return cuda::kOutOfMemory;
    state = State::Initialized;
    return cuda::kSuccess;
  });
}

Result cuDriverGetVersion(int* version) {
  if (!version) return cuda::kInvalidValue;
  *version = kDriverVersion;
  return cuda::kSuccess;
}

Result cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags, int* status) {
  if (!name || !function) return cuda::kInvalidValue;
  return guarded([&] {
    bool isTooNew = false;
    *function = findEntry(name, version, isTooNew);
    constexpr int kFound = 0, kNone = 1, kVersionTooOld = 2;
    if (status) *status = *function ? kFound : isTooNew ? kVersionTooOld : kNone;
    return *function ? cuda::kSuccess : cuda::kNotFound;
  });
}

Result cuGetProcAddress(const char* name, void** function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

// The tables behind it are not documented, and the runtime library lives on them.
Result cuGetExportTable(const void** table, const Uuid* id) {
  if (!table || !id) return cuda::kInvalidValue;
  *table = nullptr;
  reportMissing("cuGetExportTable");
  return cuda::kNotFound;
}

Result cuDeviceGet(DeviceHandle* device, int ordinal) {
  if (!device) return cuda::kInvalidValue;
  return onDevice(ordinal, [&](VirtualDevice&) {
    *device = ordinal;
    return cuda::kSuccess;
  });
}

Result cuDeviceGetCount(int* count) {
  return inDriver([&] {
    if (!count) return cuda::kInvalidValue;
    *count = VirtualDevice::count();
    return cuda::kSuccess;
  });
}

Result cuDeviceGetName(char* text, int bytes, DeviceHandle handle) {
  return onDevice(handle, [&](VirtualDevice& device) {
    if (!text || bytes < 1) return cuda::kInvalidValue;
    copyText(device.name(), text, bytes);
    return cuda::kSuccess;
  });
}

Result cuDeviceGetUuid(Uuid* uuid, DeviceHandle handle) {
  return onDevice(handle, [&](VirtualDevice& device) {
    if (!uuid) return cuda::kInvalidValue;
    *uuid = device.uuid();
    return cuda::kSuccess;
  });
}
Result cuDeviceGetUuid_v2(Uuid* uuid, DeviceHandle handle) { return cuDeviceGetUuid(uuid, handle); }

Result cuDeviceTotalMem_v2(size_t* bytes, DeviceHandle handle) {
  return onDevice(handle, [&](VirtualDevice& device) {
    if (!bytes) return cuda::kInvalidValue;
    *bytes = device.memoryBytes();
    return cuda::kSuccess;
  });
}

Result cuDeviceGetAttribute(int* value, int attribute, DeviceHandle handle) {
  return onDevice(handle, [&](VirtualDevice& device) {
    if (!value || !device.attribute(attribute, *value)) return cuda::kInvalidValue;
    return cuda::kSuccess;
  });
}

Result cuDeviceComputeCapability(int* major, int* minor, DeviceHandle handle) {
  return onDevice(handle, [&](VirtualDevice& device) {
    if (!major || !minor) return cuda::kInvalidValue;
    *major = device.limits().major;
    *minor = device.limits().minor;
    return cuda::kSuccess;
  });
}

Result cuDeviceGetPCIBusId(char* text, int bytes, DeviceHandle handle) {
  return onDevice(handle, [&](VirtualDevice& device) {
    if (!text || bytes < 1) return cuda::kInvalidValue;
    copyText(device.busId(), text, bytes);
    return cuda::kSuccess;
  });
}

Result cuDeviceGetByPCIBusId(DeviceHandle* found, const char* text) {
  return inDriver([&] {
    if (!found || !text) return cuda::kInvalidValue;
    const std::string_view wanted(text);
    for (int i = 0; i < VirtualDevice::count(); ++i) {
      const std::string id = VirtualDevice::find(i)->busId();
      const std::string_view shorter = std::string_view(id).substr(id.find(':') + 1); // without the domain
      if (wanted != id && wanted != shorter) continue;
      *found = i;
      return cuda::kSuccess;
    }
    return cuda::kInvalidDevice;
  });
}

Result cuDeviceGetExecAffinitySupport(int* value, int type, DeviceHandle handle) {
  return onDevice(handle, [&](VirtualDevice&) {
    if (!value || type) return cuda::kInvalidValue;
    *value = 0;
    return cuda::kSuccess;
  });
}

Result cuDeviceCanAccessPeer(int* can, DeviceHandle handle, DeviceHandle peer) {
  return onDevice(handle, [&](VirtualDevice&) {
    if (!can) return cuda::kInvalidValue;
    if (!VirtualDevice::find(peer)) return cuda::kInvalidDevice;
    *can = handle != peer;
    return cuda::kSuccess;
  });
}

Result cuDeviceGetP2PAttribute(int* value, int attribute, DeviceHandle handle, DeviceHandle peer) {
  return onDevice(handle, [&](VirtualDevice&) {
    enum { kRank = 1, kAccess, kAtomics, kArrays };
    if (!value || attribute < kRank || attribute > kArrays) return cuda::kInvalidValue;
    if (!VirtualDevice::find(peer) || peer == handle) return cuda::kInvalidDevice;
    *value = attribute == kAccess || attribute == kAtomics;
    return cuda::kSuccess;
  });
}

} // extern "C"
} // namespace tiletwin::driver
