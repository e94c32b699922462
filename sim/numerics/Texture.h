// sim/numerics/Texture.h -- what kernels read by texture and surface instructions: images, and how they are looked at.
//
// Here:      Image, Texture, the table that turns a kernel's handle into one.
// Not here:  arithmetic of coordinates and filters (Sampling.h), instructions (isa/Texture.cpp), CUDA's arrays and objects
//            (driver/Arrays.h).
// Invariant: whoever registers an image keeps its bytes as long as the handle is registered.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tiletwin::sim {

enum class TexelType : uint8_t { U8, U16, U32, S8, S16, S32, F16, F32 };
constexpr int bytesOf(TexelType type) {
  constexpr int kBytes[] = {1, 2, 4, 1, 2, 4, 2, 4};
  return kBytes[int(type)];
}

/// How many coordinates there are beside a layer.
enum class ImageShape : uint8_t { Line, Flat, Solid, Cube };

struct ImageLevel {
  std::byte* data = nullptr;
  uint32_t width = 1, height = 1, depth = 1; ///< texels; of layered images and cubes the depth counts layers and faces
  size_t pitch = 0, slice = 0;               ///< bytes
};

struct Image {
  TexelType type = TexelType::F32;
  int channels = 1;
  ImageShape shape = ImageShape::Flat;
  bool isLayered = false;
  bool isLinear = false; ///< memory that is looked at by index alone
  std::vector<ImageLevel> levels;
  int texelBytes() const { return bytesOf(type) * channels; }
};

enum class Addressing : uint8_t { Wrap, Clamp, Mirror, Border };

struct Texture {
  Image image;
  std::array<Addressing, 3> addressing{Addressing::Clamp, Addressing::Clamp, Addressing::Clamp};
  bool filters = false, filtersLevels = false;
  bool isNormalized = false;  ///< coordinates from 0 to 1
  bool givesFraction = false; ///< integers become floats from 0 (or -1) to 1
  bool isSurface = false;
  float levelBias = 0, leastLevel = 0, mostLevel = 0;
  std::array<float, 4> border{};
};

/// Thread-safe.
class TextureTable {
public:
  static TextureTable& instance();
  /// The handle under which kernels find it; never given twice.
  uint64_t add(std::shared_ptr<const Texture> texture);
  /// False: there is none of that handle.
  bool remove(uint64_t handle);
  std::shared_ptr<const Texture> find(uint64_t handle) const;

private:
  TextureTable() = default;
};

} // namespace tiletwin::sim
