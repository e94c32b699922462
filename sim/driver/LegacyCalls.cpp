// sim/driver/LegacyCalls.cpp -- what the driver had in its first versions and PyCUDA uses: launches for which a function keeps block,
// shared memory and parameters until it is launched; contexts that count who is attached.
#include "sim/driver/Call.h"
#include "sim/driver/Launch.h"
#include "sim/driver/Stream.h"
#include <cstring>

namespace tiletwin::driver {
namespace {

/// body(what is kept of a function), no other thread beside it.
template <class Body> Result onKept(FunctionHandle handle, const Body& body) noexcept {
  return inContext([&](Context& context) {
    std::shared_ptr<Function> function;
    if (const Result result = findFunction(context, handle, function)) return result;
    const std::lock_guard lock(function->keptMutex);
    return body(function->kept);
  });
}

Result setParameter(FunctionHandle handle, int offset, const void* value, unsigned bytes) noexcept {
  return onKept(handle, [&](KeptLaunch& kept) {
    constexpr unsigned kMost = 4096;
    if (offset < 0 || !value || bytes > kMost || unsigned(offset) > kMost - bytes) return cuda::kInvalidValue;
    if (kept.parameters.size() < size_t(offset) + bytes) kept.parameters.resize(size_t(offset) + bytes);
    std::memcpy(kept.parameters.data() + offset, value, bytes);
    return cuda::kSuccess;
  });
}

Result launchKept(FunctionHandle handle, int width, int height, StreamHandle stream) noexcept {
  KeptLaunch now;
  if (const Result result = onKept(handle, [&](const KeptLaunch& kept) {
        now = kept;
        return cuda::kSuccess;
      }))
    return result;
  if (width < 1 || height < 1) return cuda::kInvalidValue;
  size_t bytes = now.parameters.size();
  void* extra[] = {cuda::kLaunchBufferPointer, now.parameters.data(), cuda::kLaunchBufferSize, &bytes, nullptr};
  return cuLaunchKernel(handle, unsigned(width), unsigned(height), 1, now.block[0], now.block[1], now.block[2],
                        now.sharedBytes, stream, nullptr, extra);
}

} // namespace

extern "C" {

Result cuFuncSetBlockShape(FunctionHandle handle, int x, int y, int z) {
  return onKept(handle, [&](KeptLaunch& kept) {
    if (x < 1 || y < 1 || z < 1) return cuda::kInvalidValue;
    kept.block = {unsigned(x), unsigned(y), unsigned(z)};
    return cuda::kSuccess;
  });
}
Result cuFuncSetSharedSize(FunctionHandle handle, unsigned bytes) {
  return onKept(handle, [&](KeptLaunch& kept) {
    kept.sharedBytes = bytes;
    return cuda::kSuccess;
  });
}
Result cuParamSetSize(FunctionHandle handle, unsigned bytes) {
  return onKept(handle, [&](KeptLaunch& kept) {
    kept.parameters.resize(bytes);
    return cuda::kSuccess;
  });
}
Result cuParamSeti(FunctionHandle handle, int offset, unsigned value) {
  return setParameter(handle, offset, &value, sizeof value);
}
Result cuParamSetf(FunctionHandle handle, int offset, float value) {
  return setParameter(handle, offset, &value, sizeof value);
}
Result cuParamSetv(FunctionHandle handle, int offset, void* value, unsigned bytes) {
  return setParameter(handle, offset, value, bytes);
}
Result cuLaunch(FunctionHandle handle) { return launchKept(handle, 1, 1, nullptr); }
Result cuLaunchGrid(FunctionHandle handle, int width, int height) { return launchKept(handle, width, height, nullptr); }
Result cuLaunchGridAsync(FunctionHandle handle, int width, int height, StreamHandle stream) {
  return launchKept(handle, width, height, stream);
}

Result cuCtxAttach(ContextHandle* handle, unsigned flags) {
  return inContext([&](Context& context) {
    if (!handle || flags) return cuda::kInvalidValue;
    const std::lock_guard lock(context.mutex);
    ++context.retained;
    *handle = context.handle;
    return cuda::kSuccess;
  });
}
// Also of a context whose kernel has failed: it is to be got rid of.
Result cuCtxDetach(ContextHandle handle) {
  return inDriver([&] {
    Context* context = Context::current();
    if (!context || context->handle != handle) return cuda::kInvalidContext;
    {
      const std::lock_guard lock(context->mutex);
      if (context->retained && !context->isPrimary) {
        --context->retained;
        return cuda::kSuccess;
      }
    }
    return cuCtxDestroy_v2(handle);
  });
}

} // extern "C"
} // namespace tiletwin::driver
