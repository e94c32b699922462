// sim/driver/Work.cpp -- see Work.h.
#include "sim/driver/Work.h"
#include "sim/driver/Context.h"
#include "sim/driver/Stream.h"
#include <cstring>

namespace tiletwin::driver {

Result CopyWork::run(Context&) {
  for (size_t z = 0; z < shape.depth; ++z)
    for (size_t y = 0; y < shape.height; ++y)
      std::memmove(shape.to + z * shape.toSlice + y * shape.toPitch,
                   shape.from + z * shape.fromSlice + y * shape.fromPitch, shape.width);
  return cuda::kSuccess;
}

Result FillWork::run(Context&) {
  for (size_t y = 0; y < params.height; ++y) {
    auto* row = reinterpret_cast<std::byte*>(params.to + y * params.pitch); // NOLINT: device addresses are the host's
    if (params.elementBytes == 1)
      std::memset(row, int(params.value), params.width);
    else
      for (size_t x = 0; x < params.width; ++x)
        std::memcpy(row + x * params.elementBytes, &params.value, params.elementBytes);
  }
  return cuda::kSuccess;
}

Result HostWork::run(Context&) {
  isInHostFunction() = true;
  params.function(params.data);
  isInHostFunction() = false;
  return cuda::kSuccess;
}

Result RecordWork::run(Context&) {
  const std::lock_guard lock(event->mutex);
  event->time = std::chrono::steady_clock::now();
  event->capture = nullptr;
  event->nodes.clear();
  return cuda::kSuccess;
}

} // namespace tiletwin::driver
