// sim/driver/ArrayCalls.cpp -- the driver's functions on arrays; see Arrays.h.
#include "sim/driver/ArrayApi.h"
#include "sim/driver/Call.h"
#include "sim/driver/DeviceMemory.h"
#include "sim/driver/Handles.h"
#include "sim/driver/VirtualDevice.h"
#include <algorithm>
#include <bit>

namespace tiletwin::driver {
namespace {

constexpr size_t kMostFlat = 131072, kMostSolid = 16384;

/// Whether a GPU has such an array: sizes, and what goes together.
bool isPossible(const Array3DDescription& a) {
  const bool isCube = a.flags & kArrayCube, isLayered = a.flags & kArrayLayered;
  if (!a.width || a.width > kMostFlat || a.height > kMostFlat || a.depth > kMostSolid) return false;
  if (a.channels != 1 && a.channels != 2 && a.channels != 4) return false;
  if (isLayered && !a.depth) return false;
  if (isCube && (a.width != a.height || a.depth % 6 || !a.depth || (!isLayered && a.depth != 6))) return false;
  return !a.depth || a.height || isLayered;
}

template <class Body> Result onArray(ArrayHandle handle, const Body& body) noexcept {
  return inContext([&](Context&) {
    const std::shared_ptr<Array> array = find<Array>(handle);
    return array ? body(array) : kInvalidHandle;
  });
}

} // namespace

Result Array::make(Context& context, const Array3DDescription& asked, std::shared_ptr<Array>& array) {
  sim::TexelType type{};
  if (!isPossible(asked)) return cuda::kInvalidValue;
  if (!texelOf(asked.format, type)) return cuda::kNotSupported;
  auto made = std::make_shared<Array>(context, asked);
  made->texelBytes = sim::bytesOf(type) * int(asked.channels);
  sim::ImageLevel& level = made->level;
  level.width = uint32_t(asked.width);
  level.height = uint32_t(std::max<size_t>(asked.height, 1));
  level.depth = uint32_t(std::max<size_t>(asked.depth, 1));
  level.pitch = asked.width * size_t(made->texelBytes);
  level.slice = level.pitch * level.height;
  Allocation wanted;
  wanted.bytes = level.slice * level.depth;
  wanted.kind = MemoryKind::Array;
  wanted.device = &context.device;
  wanted.context = context.id;
  uint64_t at = 0;
  if (const Result result = DeviceMemory::instance().allocate(std::move(wanted), at)) return result;
  level.data = reinterpret_cast<std::byte*>(at); // NOLINT: an address
  array = std::move(made);
  array->handle = static_cast<ArrayHandle>(Handles<Array>::instance().add(array));
  return cuda::kSuccess;
}

Array::~Array() {
  if (level.data)
    DeviceMemory::instance().release(reinterpret_cast<uint64_t>(level.data),
                                     [](const Allocation& a) { return a.kind == MemoryKind::Array; });
}

extern "C" {

Result cuArray3DCreate_v2(ArrayHandle* handle, const Array3DDescription* asked) {
  return inContext([&](Context& context) {
    std::shared_ptr<Array> array;
    if (!handle || !asked) return cuda::kInvalidValue;
    if (const Result result = Array::make(context, *asked, array)) return result;
    *handle = array->handle;
    return cuda::kSuccess;
  });
}
Result cuArrayCreate_v2(ArrayHandle* handle, const ArrayDescription* asked) {
  if (!asked) return cuda::kInvalidValue;
  const Array3DDescription all{asked->width, asked->height, 0, asked->format, asked->channels, 0};
  return cuArray3DCreate_v2(handle, &all);
}
Result cuArrayDestroy(ArrayHandle handle) {
  return inContext([&](Context& context) {
    const auto others = context.waitForOthers();
    return Handles<Array>::instance().take(handle) ? cuda::kSuccess : kInvalidHandle;
  });
}
Result cuArray3DGetDescriptor_v2(Array3DDescription* asked, ArrayHandle handle) {
  return onArray(handle, [&](const std::shared_ptr<Array>& array) {
    if (!asked) return cuda::kInvalidValue;
    *asked = array->asked;
    return cuda::kSuccess;
  });
}
Result cuArrayGetDescriptor_v2(ArrayDescription* asked, ArrayHandle handle) {
  return onArray(handle, [&](const std::shared_ptr<Array>& array) {
    if (!asked) return cuda::kInvalidValue;
    *asked = {array->asked.width, array->asked.height, array->asked.format, array->asked.channels};
    return cuda::kSuccess;
  });
}

Result cuMipmappedArrayCreate(MipmappedHandle* handle, const Array3DDescription* asked, unsigned count) {
  return inContext([&](Context& context) {
    if (!handle || !asked || !count) return cuda::kInvalidValue;
    const bool isSolid = !(asked->flags & (kArrayLayered | kArrayCube));
    const size_t largest = std::max({asked->width, asked->height, isSolid ? asked->depth : 0});
    auto made = std::make_shared<MipmappedArray>(*asked);
    for (unsigned i = 0; i < std::min(count, unsigned(std::bit_width(largest))); ++i) {
      Array3DDescription one = *asked;
      const auto half = [&](size_t size) { return size ? std::max<size_t>(size >> i, 1) : 0; };
      one.width = half(one.width);
      one.height = half(one.height);
      if (isSolid) one.depth = half(one.depth);
      if (const Result result = Array::make(context, one, made->levels.emplace_back())) {
        made->levels.pop_back();
        return result;
      }
    }
    *handle = static_cast<MipmappedHandle>(Handles<MipmappedArray>::instance().add(std::move(made)));
    return cuda::kSuccess;
  });
}
Result cuMipmappedArrayDestroy(MipmappedHandle handle) {
  return inContext([&](Context& context) {
    const auto others = context.waitForOthers();
    const std::shared_ptr<MipmappedArray> gone = Handles<MipmappedArray>::instance().take(handle);
    if (!gone) return kInvalidHandle;
    for (const std::shared_ptr<Array>& level : gone->levels) Handles<Array>::instance().take(level->handle);
    return cuda::kSuccess;
  });
}
Result cuMipmappedArrayGetLevel(ArrayHandle* handle, MipmappedHandle mipmapped, unsigned level) {
  return inContext([&](Context&) {
    const std::shared_ptr<MipmappedArray> all = find<MipmappedArray>(mipmapped);
    if (!all) return kInvalidHandle;
    if (!handle || level >= all->levels.size()) return cuda::kInvalidValue;
    *handle = all->levels[level]->handle;
    return cuda::kSuccess;
  });
}

} // extern "C"
} // namespace tiletwin::driver
