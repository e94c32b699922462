// runtime/cuda/Device.cpp -- see Device.h.
#include "runtime/cuda/Device.h"
#include "runtime/cuda/Error.h"
#include <array>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

namespace tiletwin::cuda {

int Device::count() {
  const Driver& driver = Driver::get();
  int found = 0;
  check(driver.cuDeviceGetCount(&found), "cuDeviceGetCount");
  return found;
}

Device& Device::get(int ordinal) {
  static std::mutex mutex;
  static auto* devices = new std::vector<std::unique_ptr<Device>>; // under mutex; never freed, as contexts are
  const int found = count();
  if (ordinal < 0 || ordinal >= found) {
    throw Error(ErrorKind::NoDevice,
                "there is no CUDA device " + std::to_string(ordinal) + ": this process sees " + std::to_string(found) +
                    visibleDevices(),
                kInvalidDevice);
  }
  std::lock_guard lock(mutex);
  if (devices->size() < size_t(found)) devices->resize(size_t(found));
  std::unique_ptr<Device>& device = (*devices)[size_t(ordinal)];
  if (!device) device.reset(new Device(ordinal));
  return *device;
}

int Device::current() {
  const Driver& driver = Driver::get();
  ContextHandle context = nullptr;
  check(driver.cuCtxGetCurrent(&context), "cuCtxGetCurrent");
  if (!context) return -1;
  DeviceHandle device = 0;
  check(driver.cuCtxGetDevice(&device), "cuCtxGetDevice");
  for (int ordinal = 0, n = count(); ordinal < n; ++ordinal)
    if (get(ordinal).handle_ == device) return ordinal;
  return -1;
}

Device::Device(int ordinal) : ordinal_(ordinal) {
  const Driver& driver = Driver::get();
  check(driver.cuDeviceGet(&handle_, ordinal), "cuDeviceGet");
  std::array<char, 256> name{};
  check(driver.cuDeviceGetName(name.data(), int(name.size()) - 1, handle_), "cuDeviceGetName");
  name_ = name.data();
  capability_ = 10 * attribute(kCapabilityMajor) + attribute(kCapabilityMinor);
  maxSharedPerBlock_ = attribute(kMaxSharedPerBlockOptin);
  check(driver.cuDeviceTotalMem_v2(&memoryBytes_, handle_), "cuDeviceTotalMem");
}

int Device::attribute(DeviceAttribute attribute) const {
  int value = 0;
  check(Driver::get().cuDeviceGetAttribute(&value, attribute, handle_), "cuDeviceGetAttribute",
        [&] { return text() + ", attribute " + std::to_string(int(attribute)); });
  return value;
}

std::string Device::text() const {
  return "device " + std::to_string(ordinal_) + " (" + name_ + ", sm_" + std::to_string(capability_) + ")";
}

ContextHandle Device::context() {
  if (ContextHandle known = context_.load(std::memory_order_acquire)) return known;
  ContextHandle context = nullptr;
  // Two threads may both get here: the driver counts, and both get the same one.
  check(Driver::get().cuDevicePrimaryCtxRetain(&context, handle_), "cuDevicePrimaryCtxRetain", [&] { return text(); });
  context_.store(context, std::memory_order_release);
  return context;
}

ContextScope::ContextScope(Device& device) {
  const Driver& driver = Driver::get();
  ContextHandle wanted = device.context(), current = nullptr;
  check(driver.cuCtxGetCurrent(&current), "cuCtxGetCurrent");
  if (current == wanted) return;
  check(driver.cuCtxPushCurrent_v2(wanted), "cuCtxPushCurrent", [&] { return device.text(); });
  pushed_ = true;
}

ContextScope::~ContextScope() {
  ContextHandle popped = nullptr;
  if (pushed_) Driver::get().cuCtxPopCurrent_v2(&popped);
}

CaptureIsUnaffected::CaptureIsUnaffected() {
  check(Driver::get().cuThreadExchangeStreamCaptureMode(&before_), "cuThreadExchangeStreamCaptureMode");
}

CaptureIsUnaffected::~CaptureIsUnaffected() { Driver::get().cuThreadExchangeStreamCaptureMode(&before_); }

} // namespace tiletwin::cuda
