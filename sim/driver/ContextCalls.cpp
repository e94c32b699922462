// sim/driver/ContextCalls.cpp -- the driver's functions on contexts, primary and others.
// A call from one thread ends a context while others use it: they hold the object, and see that it is no longer active.
#include "sim/driver/Call.h"
#include "sim/driver/Handles.h"
#include "sim/driver/VirtualDevice.h"

namespace tiletwin::driver {
namespace {

constexpr unsigned kApiVersion = 3020;

/// body(primary context), its mutex held.
template <class Body> Result onPrimary(DeviceHandle handle, const Body& body) noexcept {
  return inDriver([&] {
    VirtualDevice* device = VirtualDevice::find(handle);
    if (!device) return cuda::kInvalidDevice;
    Context& context = *device->primary();
    const std::lock_guard lock(context.mutex);
    return body(context);
  });
}

Result makeContext(ContextHandle* handle, unsigned flags, DeviceHandle ordinal) {
  return inDriver([&] {
    if (!handle) return cuda::kInvalidValue;
    VirtualDevice* device = VirtualDevice::find(ordinal);
    if (!device) return cuda::kInvalidDevice;
    const std::shared_ptr<Context> context = Context::make(*device, flags, false);
    *handle = context->handle;
    Context::stack().push_back(context);
    return cuda::kSuccess;
  });
}

/// What a handle of no context is: one that was destroyed, or none ever.
Result missingContext(ContextHandle handle) {
  return Handles<Context>::instance().wasGiven(handle) ? kContextIsDestroyed : cuda::kInvalidContext;
}

/// A context that is named, or with null the thread's.
template <class Body> Result inNamed(ContextHandle handle, const Body& body) noexcept {
  if (!handle) return inContext(body);
  return inDriver([&] {
    const std::shared_ptr<Context> context = find<Context>(handle);
    if (!context) return missingContext(handle);
    if (const Result state = stateOf(*context)) return state;
    return body(*context);
  });
}

/// Work is done when it is given; what is under way is that of other threads.
Result waitForAll(Context& context) {
  if (isInHostFunction()) return kNotPermitted;
  const auto others = context.waitForOthers();
  return context.error;
}

} // namespace

extern "C" {

Result cuDevicePrimaryCtxRetain(ContextHandle* handle, DeviceHandle device) {
  return onPrimary(device, [&](Context& context) {
    if (!handle) return cuda::kInvalidValue;
    ++context.retained;
    context.isActive = true;
    *handle = context.handle;
    return cuda::kSuccess;
  });
}

Result cuDevicePrimaryCtxRelease_v2(DeviceHandle device) {
  return onPrimary(device, [](Context& context) {
    if (!context.retained) return cuda::kInvalidContext;
    if (--context.retained) return cuda::kSuccess;
    context.isActive = false;
    context.clear();
    return cuda::kSuccess;
  });
}
Result cuDevicePrimaryCtxRelease(DeviceHandle device) { return cuDevicePrimaryCtxRelease_v2(device); }

Result cuDevicePrimaryCtxReset_v2(DeviceHandle device) {
  return onPrimary(device, [](Context& context) {
    context.clear();
    context.isActive = context.retained != 0;
    return cuda::kSuccess;
  });
}
Result cuDevicePrimaryCtxReset(DeviceHandle device) { return cuDevicePrimaryCtxReset_v2(device); }

Result cuDevicePrimaryCtxSetFlags_v2(DeviceHandle device, unsigned flags) {
  return onPrimary(device, [&](Context& context) {
    context.flags = flags;
    return cuda::kSuccess;
  });
}
Result cuDevicePrimaryCtxSetFlags(DeviceHandle device, unsigned flags) {
  return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

Result cuDevicePrimaryCtxGetState(DeviceHandle device, unsigned* flags, int* active) {
  return onPrimary(device, [&](Context& context) {
    if (!flags || !active) return cuda::kInvalidValue;
    *flags = context.flags;
    *active = context.isActive;
    return cuda::kSuccess;
  });
}

Result cuCtxCreate_v2(ContextHandle* context, unsigned flags, DeviceHandle device) {
  return makeContext(context, flags, device);
}
Result cuCtxCreate_v3(ContextHandle* context, void* affinities, int count, unsigned flags, DeviceHandle device) {
  return count ? cuda::kNotSupported : makeContext(context, flags, device);
}
Result cuCtxCreate_v4(ContextHandle* context, void* parameters, unsigned flags, DeviceHandle device) {
  struct Parameters { // CUctxCreateParams
    const void* affinities;
    int count;
    const void* graphics;
  };
  const auto* asked = static_cast<const Parameters*>(parameters);
  const bool isPlain = !asked || (!asked->count && !asked->graphics);
  return isPlain ? makeContext(context, flags, device) : cuda::kNotSupported;
}

Result cuCtxDestroy_v2(ContextHandle handle) {
  return inDriver([&] {
    if (!handle) return cuda::kInvalidValue;
    const std::shared_ptr<Context> context = find<Context>(handle);
    if (!context) return missingContext(handle);
    if (context->isPrimary) return cuda::kInvalidContext;                       // it is released, not destroyed
    if (!Handles<Context>::instance().take(handle)) return kContextIsDestroyed; // another thread was first
    context->isActive = false;
    context->clear();
    if (Context::current() == context.get()) Context::stack().pop_back();
    return cuda::kSuccess;
  });
}

Result cuCtxPushCurrent_v2(ContextHandle handle) {
  return inDriver([&] {
    std::shared_ptr<Context> context = find<Context>(handle);
    if (!context) return handle ? missingContext(handle) : cuda::kInvalidContext;
    Context::stack().push_back(std::move(context));
    return cuda::kSuccess;
  });
}

Result cuCtxPopCurrent_v2(ContextHandle* handle) {
  return inDriver([&] {
    if (!Context::current()) return cuda::kInvalidContext;
    if (handle) *handle = Context::current()->handle;
    Context::stack().pop_back();
    return cuda::kSuccess;
  });
}

Result cuCtxSetCurrent(ContextHandle handle) {
  return inDriver([&] {
    std::shared_ptr<Context> context = find<Context>(handle);
    if (handle && !context) return missingContext(handle);
    if (!Context::stack().empty()) Context::stack().pop_back();
    if (context) Context::stack().push_back(std::move(context));
    return cuda::kSuccess;
  });
}

Result cuCtxGetCurrent(ContextHandle* handle) {
  return inDriver([&] {
    if (!handle) return cuda::kInvalidValue;
    *handle = Context::current() ? Context::current()->handle : nullptr;
    return cuda::kSuccess;
  });
}

Result cuCtxGetDevice(DeviceHandle* device) {
  return inDriver([&] {
    if (!device) return cuda::kInvalidValue;
    const Context* context = Context::current();
    if (!context) return cuda::kInvalidContext;
    *device = context->device.ordinal();
    return cuda::kSuccess;
  });
}

Result cuCtxGetDevice_v2(DeviceHandle* device, ContextHandle handle) {
  if (!handle) return cuCtxGetDevice(device);
  return inDriver([&] {
    const std::shared_ptr<Context> context = find<Context>(handle);
    if (!device) return cuda::kInvalidValue;
    if (!context) return missingContext(handle);
    *device = context->device.ordinal();
    return cuda::kSuccess;
  });
}

Result cuCtxGetFlags(unsigned* flags) {
  return inContext([&](Context& context) {
    if (!flags) return cuda::kInvalidValue;
    *flags = context.flags;
    return cuda::kSuccess;
  });
}

Result cuCtxSetFlags(unsigned flags) {
  return inContext([&](Context& context) {
    context.flags = flags;
    return cuda::kSuccess;
  });
}

Result cuCtxGetId(ContextHandle handle, unsigned long long* id) {
  return inNamed(handle, [&](Context& context) {
    if (!id) return cuda::kInvalidValue;
    *id = context.id;
    return cuda::kSuccess;
  });
}

Result cuCtxSynchronize() {
  return inContext([](Context& context) { return waitForAll(context); });
}
Result cuCtxSynchronize_v2(ContextHandle handle) { return inNamed(handle, waitForAll); }

Result cuCtxSetLimit(int limit, size_t value) {
  return inContext([&](Context& context) { return context.setLimit(limit, value); });
}

Result cuCtxGetLimit(size_t* value, int limit) {
  return inContext([&](Context& context) {
    if (!value || limit < 0) return cuda::kInvalidValue;
    if (limit >= kLimitCount) return kUnsupportedLimit;
    *value = context.limits[size_t(limit)];
    return cuda::kSuccess;
  });
}

// Caches and banks are as they are: what a client prefers changes no result.
Result cuCtxGetCacheConfig(int* config) {
  return inContext([&](Context&) {
    if (!config) return cuda::kInvalidValue;
    *config = 0;
    return cuda::kSuccess;
  });
}
Result cuCtxSetCacheConfig(int config) {
  return inContext([](Context&) { return cuda::kSuccess; });
}
Result cuCtxGetSharedMemConfig(int* config) { return cuCtxGetCacheConfig(config); }
Result cuCtxSetSharedMemConfig(int config) { return cuCtxSetCacheConfig(config); }
Result cuCtxResetPersistingL2Cache() {
  return inContext([](Context&) { return cuda::kSuccess; });
}

Result cuCtxGetApiVersion(ContextHandle handle, unsigned* version) {
  return inNamed(handle, [&](Context&) {
    if (!version) return cuda::kInvalidValue;
    *version = kApiVersion;
    return cuda::kSuccess;
  });
}

Result cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return inContext([&](Context&) {
    constexpr int kGreatest = -5;
    if (least) *least = 0;
    if (greatest) *greatest = kGreatest;
    return cuda::kSuccess;
  });
}

Result cuCtxEnablePeerAccess(ContextHandle handle, unsigned flags) {
  return inContext([&](Context& context) {
    const std::shared_ptr<Context> peer = find<Context>(handle);
    if (flags) return cuda::kInvalidValue;
    if (!peer || &peer->device == &context.device) return cuda::kInvalidContext;
    const uint32_t bit = uint32_t(1) << peer->device.ordinal();
    return context.peers.fetch_or(bit) & bit ? kPeerAccessAlreadyEnabled : cuda::kSuccess;
  });
}

Result cuCtxDisablePeerAccess(ContextHandle handle) {
  return inContext([&](Context& context) {
    const std::shared_ptr<Context> peer = find<Context>(handle);
    if (!peer) return cuda::kInvalidContext;
    const uint32_t bit = uint32_t(1) << peer->device.ordinal();
    return context.peers.fetch_and(~bit) & bit ? cuda::kSuccess : kPeerAccessNotEnabled;
  });
}

Result cuProfilerInitialize(const char* config, const char* output, int mode) { return Result(5); } // it is off
Result cuProfilerStart() {
  return inContext([](Context&) { return cuda::kSuccess; });
}
Result cuProfilerStop() { return cuProfilerStart(); }

} // extern "C"
} // namespace tiletwin::driver
