// sim/cudart/Runtime.cpp -- see Runtime.h.
#include "sim/cudart/Runtime.h"
#include "sim/driver/Api.h"
#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>

namespace tiletwin::cudart {
namespace {

constexpr int kMostDevices = 16;

struct ThreadState {
  int device = 0;
  Error last = cuda::kSuccess;
  unsigned resets = 0; ///< of the process, when this thread's context was made current
};
thread_local ThreadState thread;
std::atomic<unsigned> resets{0};

struct Primaries {
  std::mutex mutex;
  std::array<ContextHandle, kMostDevices> contexts{}; // under mutex; null: not retained
};
Primaries& primaries() {
  static auto* const all = new Primaries; // clients call from destructors that run after ours
  return *all;
}

Error makeCurrent(int ordinal) {
  int count = 0;
  if (const Result result = cuDeviceGetCount(&count)) return result;
  if (!count) return cuda::kNoDevice;
  if (ordinal < 0 || ordinal >= count || ordinal >= kMostDevices) return cuda::kInvalidDevice;
  Primaries& all = primaries();
  const std::lock_guard lock(all.mutex);
  ContextHandle& context = all.contexts[size_t(ordinal)];
  if (!context)
    if (const Result result = cuDevicePrimaryCtxRetain(&context, ordinal)) return result;
  thread.resets = resets;
  return cuCtxSetCurrent(context);
}

Error initialize() {
  static const Result result = cuInit(0);
  return result;
}

} // namespace

Error enter() noexcept {
  if (const Error error = initialize()) return error;
  ContextHandle context = nullptr;
  if (cuCtxGetCurrent(&context) == cuda::kSuccess && context && thread.resets == resets) return cuda::kSuccess;
  return makeCurrent(thread.device);
}

int currentDevice() noexcept {
  DeviceHandle device = 0;
  return initialize() || cuCtxGetDevice(&device) ? thread.device : device;
}

Error selectDevice(int ordinal) noexcept {
  if (const Error error = initialize()) return error;
  if (const Error error = makeCurrent(ordinal)) return error;
  thread.device = ordinal;
  return cuda::kSuccess;
}

Error resetDevice() noexcept {
  if (const Error error = initialize()) return error;
  const int device = currentDevice();
  {
    Primaries& all = primaries();
    const std::lock_guard lock(all.mutex);
    all.contexts[size_t(device)] = nullptr;
  }
  ++resets; // every thread takes the context anew
  (void)cuCtxSetCurrent(nullptr);
  return cuDevicePrimaryCtxReset_v2(device);
}

Error lastError(bool clear) noexcept {
  const Error error = thread.last;
  if (clear) thread.last = cuda::kSuccess;
  return error;
}

Error record(Error error) noexcept {
  if (error && error != cuda::kNotReady) thread.last = error;
  return error;
}

void say(const char* text) noexcept { std::fprintf(stderr, "tiletwin gpu: %s\n", text); }

} // namespace tiletwin::cudart
