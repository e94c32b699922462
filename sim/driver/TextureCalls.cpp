// sim/driver/TextureCalls.cpp -- the driver's functions on texture and surface objects.
#include "sim/driver/ArrayApi.h"
#include "sim/driver/Call.h"
#include "sim/driver/DeviceMemory.h"
#include "sim/driver/Handles.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

namespace tiletwin::driver {
namespace {

struct Objects {
  std::mutex mutex;
  std::map<uint64_t, TextureObject> all; // by handle, under mutex
};
Objects& objects() {
  static auto* const made = new Objects; // clients destroy objects at their exit
  return *made;
}

/// The image of arrays; their levels.
void setImage(sim::Image& image, const Array3DDescription& asked, const std::vector<std::shared_ptr<Array>>& levels) {
  texelOf(asked.format, image.type);
  image.channels = int(asked.channels);
  image.isLayered = asked.flags & kArrayLayered;
  const bool isSolid = asked.depth && !image.isLayered;
  image.shape = asked.flags & kArrayCube ? sim::ImageShape::Cube
                : isSolid                ? sim::ImageShape::Solid
                : asked.height           ? sim::ImageShape::Flat
                                         : sim::ImageShape::Line;
  for (const std::shared_ptr<Array>& level : levels) image.levels.push_back(level->level);
}

/// The image of memory that a client has an address of. kInvalidValue: it is not the client's, or badly placed.
Result setMemory(sim::Image& image, DevicePointer address, int format, unsigned channels, size_t width, size_t height,
                 size_t pitch) {
  constexpr size_t kAlignment = 512, kPitch = 32;
  if (!texelOf(format, image.type) || (channels != 1 && channels != 2 && channels != 4)) return cuda::kInvalidValue;
  image.channels = int(channels);
  if (!address || address % kAlignment || !width) return cuda::kInvalidValue;
  if (height && (pitch % kPitch || pitch < width * size_t(image.texelBytes()))) return cuda::kInvalidValue;
  const size_t bytes =
      height ? pitch * (height - 1) + width * size_t(image.texelBytes()) : width * size_t(image.texelBytes());
  if (!DeviceMemory::instance().find(address) || !DeviceMemory::instance().mayAccess(address, bytes))
    return cuda::kInvalidValue;
  image.shape = height ? sim::ImageShape::Flat : sim::ImageShape::Line;
  image.isLinear = !height;
  sim::ImageLevel level;
  level.data = reinterpret_cast<std::byte*>(address); // NOLINT: an address
  level.width = uint32_t(std::min<size_t>(width, UINT32_MAX));
  level.height = uint32_t(std::max<size_t>(height, 1));
  level.pitch = pitch ? pitch : bytes;
  level.slice = level.pitch * level.height;
  image.levels.push_back(level);
  return cuda::kSuccess;
}

Result setResource(TextureObject& object, sim::Image& image) {
  const ResourceDescription& r = object.resource;
  switch (r.type) {
  case kResourceArray: {
    std::shared_ptr<Array> array = find<Array>(r.array);
    if (!array) return cuda::kInvalidValue;
    setImage(image, array->asked, {array});
    object.owner = std::move(array);
    return cuda::kSuccess;
  }
  case kResourceMipmapped: {
    std::shared_ptr<MipmappedArray> all = find<MipmappedArray>(r.mipmapped);
    if (!all) return cuda::kInvalidValue;
    setImage(image, all->asked, all->levels);
    object.owner = std::move(all);
    return cuda::kSuccess;
  }
  case kResourceLinear: {
    sim::TexelType type{};
    if (!texelOf(r.linear.format, type) || !r.linear.channels) return cuda::kInvalidValue;
    const size_t texel = size_t(sim::bytesOf(type)) * r.linear.channels;
    return setMemory(image, r.linear.address, r.linear.format, r.linear.channels, r.linear.bytes / texel, 0, 0);
  }
  case kResourcePitched:
    return setMemory(image, r.pitched.address, r.pitched.format, r.pitched.channels, r.pitched.width, r.pitched.height,
                     r.pitched.pitch);
  default: return cuda::kInvalidValue;
  }
}

uint64_t keep(TextureObject object, std::shared_ptr<const sim::Texture> texture) {
  const uint64_t handle = sim::TextureTable::instance().add(std::move(texture));
  const std::lock_guard lock(objects().mutex);
  objects().all.emplace(handle, std::move(object));
  return handle;
}

/// A view that names the resource as it is, or a part of its levels and layers.
bool isPlain(const ViewDescription& view, const sim::Image& image) {
  return view.format >= 0 && view.firstLayer == 0 && view.firstLevel <= view.lastLevel &&
         view.lastLevel < image.levels.size();
}

template <class Body> Result onObject(uint64_t handle, bool isSurface, const Body& body) noexcept {
  return inContext([&](Context&) {
    const std::lock_guard lock(objects().mutex);
    const auto at = objects().all.find(handle);
    return at == objects().all.end() || at->second.isSurface != isSurface ? cuda::kInvalidValue : body(at->second);
  });
}

Result destroy(uint64_t handle, bool isSurface) noexcept {
  return inContext([&](Context& context) {
    const auto others = context.waitForOthers();
    TextureObject gone; // whose array may be the last reference
    const std::lock_guard lock(objects().mutex);
    const auto at = objects().all.find(handle);
    if (at == objects().all.end() || at->second.isSurface != isSurface) return cuda::kInvalidValue;
    gone = std::move(at->second);
    objects().all.erase(at);
    sim::TextureTable::instance().remove(handle);
    return cuda::kSuccess;
  });
}

} // namespace

extern "C" {

Result cuTexObjectCreate(uint64_t* handle, const ResourceDescription* resource, const TextureDescription* asked,
                         const ViewDescription* view) {
  return inContext([&](Context&) {
    constexpr int kBorder = 3, kLinearFilter = 1;
    if (!handle || !resource || !asked || resource->flags) return cuda::kInvalidValue;
    TextureObject object{*resource, *asked, {}, view != nullptr, false, nullptr};
    auto texture = std::make_shared<sim::Texture>();
    sim::Image& image = texture->image;
    if (const Result result = setResource(object, image)) return result;
    if (view) {
      if (!isPlain(*view, image)) return cuda::kNotSupported;
      object.view = *view;
      image.levels = {image.levels.begin() + view->firstLevel, image.levels.begin() + view->lastLevel + 1};
    }
    for (size_t d = 0; d < 3; ++d) {
      if (asked->addressing[d] < 0 || asked->addressing[d] > kBorder) return cuda::kInvalidValue;
      texture->addressing[d] = sim::Addressing(asked->addressing[d]);
      // Coordinates in texels know no period.
      if (!(asked->flags & kNormalizedCoordinates) && texture->addressing[d] != sim::Addressing::Border)
        texture->addressing[d] = sim::Addressing::Clamp;
    }
    const bool isInteger = image.type < sim::TexelType::F16;
    texture->givesFraction = isInteger && !(asked->flags & kReadAsInteger) && sim::bytesOf(image.type) < 4;
    texture->filters = asked->filter == kLinearFilter;
    if (texture->filters && isInteger && !texture->givesFraction) return cuda::kInvalidValue;
    texture->filtersLevels = asked->levelFilter == kLinearFilter;
    texture->isNormalized = asked->flags & kNormalizedCoordinates;
    texture->levelBias = asked->levelBias;
    texture->leastLevel = asked->leastLevel;
    texture->mostLevel = std::max(asked->mostLevel, float(image.levels.size() - 1));
    texture->border = asked->border;
    *handle = keep(std::move(object), std::move(texture));
    return cuda::kSuccess;
  });
}
Result cuTexObjectDestroy(uint64_t handle) { return destroy(handle, false); }
Result cuTexObjectGetResourceDesc(ResourceDescription* resource, uint64_t handle) {
  return onObject(handle, false, [&](const TextureObject& object) {
    if (!resource) return cuda::kInvalidValue;
    *resource = object.resource;
    return cuda::kSuccess;
  });
}
Result cuTexObjectGetTextureDesc(TextureDescription* asked, uint64_t handle) {
  return onObject(handle, false, [&](const TextureObject& object) {
    if (!asked) return cuda::kInvalidValue;
    *asked = object.texture;
    return cuda::kSuccess;
  });
}
Result cuTexObjectGetResourceViewDesc(ViewDescription* view, uint64_t handle) {
  return onObject(handle, false, [&](const TextureObject& object) {
    if (!view || !object.hasView) return cuda::kInvalidValue;
    *view = object.view;
    return cuda::kSuccess;
  });
}

Result cuSurfObjectCreate(uint64_t* handle, const ResourceDescription* resource) {
  return inContext([&](Context&) {
    if (!handle || !resource || resource->flags || resource->type != kResourceArray) return cuda::kInvalidValue;
    TextureObject object{*resource, {}, {}, false, true, nullptr};
    auto texture = std::make_shared<sim::Texture>();
    texture->isSurface = true;
    if (const Result result = setResource(object, texture->image)) return result;
    if (!(static_cast<const Array*>(object.owner.get())->asked.flags & kArraySurface)) return cuda::kInvalidValue;
    *handle = keep(std::move(object), std::move(texture));
    return cuda::kSuccess;
  });
}
Result cuSurfObjectDestroy(uint64_t handle) { return destroy(handle, true); }
Result cuSurfObjectGetResourceDesc(ResourceDescription* resource, uint64_t handle) {
  return onObject(handle, true, [&](const TextureObject& object) {
    if (!resource) return cuda::kInvalidValue;
    *resource = object.resource;
    return cuda::kSuccess;
  });
}

} // extern "C"
} // namespace tiletwin::driver
