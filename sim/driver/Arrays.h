// sim/driver/Arrays.h -- CUDA's arrays: images that kernels reach through textures and surfaces alone.
// Here:      Array, MipmappedArray, descriptors, the objects that kernels have handles of.
// Not here:  what a texture gives (sim/numerics/Sampling.h), copies (CopyCalls.cpp), the driver's functions (ArrayCalls.cpp,
//            TextureCalls.cpp).
// Idea:      an array is rows of texels in device memory whose address nobody is told. A GPU orders texels otherwise, which no
//            client can see.
#pragma once
#include "sim/driver/Context.h"
#include "sim/numerics/Texture.h"
#include <memory>
#include <utility>
#include <vector>

namespace tiletwin::driver {

/// CUDA_ARRAY_DESCRIPTOR and CUDA_ARRAY3D_DESCRIPTOR.
struct ArrayDescription {
  size_t width, height;
  int format;
  unsigned channels;
};
struct Array3DDescription {
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
};
inline constexpr unsigned kArrayLayered = 1, kArraySurface = 2, kArrayCube = 4, kArrayGather = 8;

enum ResourceType : int { kResourceArray, kResourceMipmapped, kResourceLinear, kResourcePitched };
struct ResourceDescription {
  int type;
  union {
    ArrayHandle array;
    MipmappedHandle mipmapped;
    struct {
      DevicePointer address;
      int format;
      unsigned channels;
      size_t bytes;
    } linear;
    struct {
      DevicePointer address;
      int format;
      unsigned channels;
      size_t width, height, pitch;
    } pitched;
    std::array<int, 32> reserved;
  };
  unsigned flags;
};
inline constexpr unsigned kReadAsInteger = 1, kNormalizedCoordinates = 2;
struct TextureDescription {
  std::array<int, 3> addressing;
  int filter;
  unsigned flags, anisotropy;
  int levelFilter;
  float levelBias, leastLevel, mostLevel;
  std::array<float, 4> border;
  std::array<int, 12> reserved;
};
struct ViewDescription {
  int format;
  size_t width, height, depth;
  unsigned firstLevel, lastLevel, firstLayer, lastLayer;
  std::array<unsigned, 16> reserved;
};
static_assert(sizeof(ResourceDescription) == 144 && sizeof(TextureDescription) == 104 &&
              sizeof(ViewDescription) == 112);

class Array {
public:
  static constexpr unsigned kHandleKind = 15;
  /// On failure a driver's result, and `array` is null.
  static Result make(Context& context, const Array3DDescription& asked, std::shared_ptr<Array>& array);
  Array(Context& context, const Array3DDescription& asked) : asked(asked), context(context.id) {}
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array();

  const Array3DDescription asked;
  const uint64_t context; ///< Context::id
  ArrayHandle handle = nullptr;
  int texelBytes = 0;
  sim::ImageLevel level;
};

class MipmappedArray {
public:
  static constexpr unsigned kHandleKind = 16;
  explicit MipmappedArray(const Array3DDescription& asked) : asked(asked) {}
  const Array3DDescription asked;
  std::vector<std::shared_ptr<Array>> levels;
};

/// A texture or surface object, as it was asked for.
struct TextureObject {
  ResourceDescription resource{};
  TextureDescription texture{};
  ViewDescription view{};
  bool hasView = false, isSurface = false;
  std::shared_ptr<void> owner; ///< the array
};

/// False: there is no such format here.
inline bool texelOf(int format, sim::TexelType& type) {
  using enum sim::TexelType;
  constexpr std::pair<int, sim::TexelType> kFormats[] = {{1, U8},  {2, U16},  {3, U32},    {8, S8},
                                                         {9, S16}, {10, S32}, {0x10, F16}, {0x20, F32}};
  for (const auto& [number, texel] : kFormats)
    if (number == format) {
      type = texel;
      return true;
    }
  return false;
}

} // namespace tiletwin::driver
