// sim/isa/TensorMapLayout.h -- the fields of a tensor map, and how they lie in its 128 bytes.
//
// Here:      TensorMap, reading and writing it, what is wrong with one.
// Not here:  tiles and their elements (TensorCopy.h), instructions (Tensormap.cpp, Tma.cpp).
// Idea:      fields hold what tensormap.replace writes, in its numbering, so that 128 zero bytes and a few replacements make the
//            map that they make on a GPU: rank is one less than the number of dimensions, for example.
#pragma once
#include "sim/Tensormap.h"
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tiletwin::sim {

inline constexpr int kMaxTensorRank = 5;

/// Element types in the numbers of tensormap.replace.tile.elemtype.
enum class TensorElement : uint8_t { U8, U16, U32, S32, U64, S64, F16, F32, F32Ftz, F64, BF16, TF32, TF32Ftz };
inline constexpr uint32_t kTensorElements = 13;

/// The 128 bytes as they lie in memory.
struct TensorMap {
  uint64_t globalAddress;
  std::array<uint64_t, kMaxTensorRank - 1> globalStride; ///< bytes, from dimension 1 on
  std::array<uint32_t, kMaxTensorRank> globalDim;        ///< elements
  std::array<uint32_t, kMaxTensorRank> boxDim;
  std::array<uint32_t, kMaxTensorRank> elementStride;
  uint8_t rank; ///< dimensions - 1
  uint8_t element;
  uint8_t interleave; ///< 0: none, 1: 16 bytes, 2: 32 bytes
  uint8_t swizzle;    ///< 0: none, 1: 32 bytes, 2: 64 bytes, 3: 128 bytes
  uint8_t fill;       ///< out-of-bounds elements; 0: zero, 1: NaN
  uint8_t isIm2col;   ///< columns of pixels are copied: boxDim holds their channels and their number
  /// Of im2col, by dimension from 1 on: how far the box of pixels begins from the tensor's first pixel, and ends from its last.
  std::array<int16_t, kMaxTensorRank - 2> lowerCorner, upperCorner;
  std::array<uint8_t, 10> unused;

  static TensorMap read(const std::byte* map);
  void write(std::byte* map) const;

  int dimensions() const { return rank + 1; }
  uint32_t elementBytes() const;
  /// Bytes of one row of the box: its extent along dimension 0.
  uint32_t rowBytes() const { return boxDim[0] * elementBytes(); }
  /// From one row to the next in shared memory: a row takes a whole span of the swizzle, even if the box is narrower.
  uint32_t rowPitch() const { return swizzle ? uint32_t(16) << swizzle : rowBytes(); }
  /// Of im2col: the last pixel of the box along a dimension between channels and images.
  int64_t lastPixel(size_t dimension) const { return int64_t(globalDim[dimension]) - 1 + upperCorner[dimension - 1]; }
  /// Elements of the box along a dimension; dimension 0 knows no element stride.
  uint32_t boxElements(int dimension) const;
  /// Why no tile can be copied with this map; empty: it can.
  std::string problem() const;
};
static_assert(sizeof(TensorMap) == kTensorMapBytes);

} // namespace tiletwin::sim
