// sim/isa/TensorCopy.h -- a tile of a tensor: where its elements lie in global and in shared memory, and how they get there.
//
// Here:      rows of a box, pixels of a column, swizzles, out-of-bounds elements, conversions on the way.
// Not here:  the map's bytes (TensorMapLayout.h), when a copy lands (AsyncQueue.cpp), instructions (Tma.cpp).
// Source:    "PTX ISA", NVIDIA, section "Tensors": bounding box, traversal stride, out-of-bound access, swizzling modes, im2col.
// Idea:      a tile is rows along dimension 0, one after the other in shared memory; a swizzle moves 16-byte chunks by address bits
//            only, so it is a function of the address that a chunk would have without it.
#pragma once
#include "sim/isa/ReduceElements.h"
#include "sim/isa/TensorMapLayout.h"
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace tiletwin::sim {

inline constexpr size_t kGatheredRows = 4;

struct TensorTile {
  TensorMap map;
  std::array<int32_t, kMaxTensorRank> at{};                ///< coordinates of the first element
  std::array<uint16_t, kMaxTensorRank - 2> filterOffset{}; ///< of im2col, by dimension from 1 on

  /// Of gather and scatter: which rows of a tensor of two dimensions.
  std::optional<std::array<int32_t, kGatheredRows>> gathered{};

  uint64_t rows() const {
    if (gathered) return kGatheredRows;
    if (map.isIm2col) return map.boxDim[1];
    uint64_t result = 1;
    for (int d = 1; d < map.dimensions(); ++d) result *= map.boxElements(d);
    return result;
  }
  /// Elements of the box, those outside of the tensor included: what an mbarrier hears of.
  uint64_t bytes() const { return rows() * map.rowBytes(); }
  /// Shared memory from the first row to the end of the last one.
  uint64_t sharedBytes() const { return rows() * map.rowPitch(); }
};

/// A row of a tile: elements [first, last) are inside of the tensor, the first of these at `global`.
struct TensorRow {
  uint64_t offset = 0; ///< in the tile, bytes, not swizzled
  uint64_t global = 0;
  uint32_t first = 0, last = 0;
};

/// Coordinates of a tile's rows, one after the other. Pixels of a column go through the box that the map's corners leave of each
/// image, and on with the next image; an offset then moves all of them.
class RowWalk {
public:
  explicit RowWalk(const TensorTile& tile) : tile_(tile), at_{} {
    for (size_t d = 0; d < kMaxTensorRank; ++d) at_[d] = tile.at[d];
  }
  int64_t coordinate(size_t dimension) const {
    if (tile_.gathered && dimension == 1) return (*tile_.gathered)[row_];
    const bool isMoved = tile_.map.isIm2col && dimension < size_t(tile_.map.dimensions()) - 1;
    return at_[dimension] + (isMoved ? tile_.filterOffset[dimension - 1] : 0);
  }
  void next() {
    if (tile_.gathered) {
      row_ = std::min(row_ + 1, kGatheredRows - 1);
      return;
    }
    const TensorMap& map = tile_.map;
    const auto dimensions = size_t(map.dimensions());
    for (size_t d = 1; d < dimensions; ++d) {
      const bool isImage = map.isIm2col && d == dimensions - 1;
      at_[d] += isImage ? 1 : int64_t(map.elementStride[d]);
      if (isImage) return;
      const int64_t last =
          map.isIm2col ? map.lastPixel(d) : tile_.at[d] + int64_t(map.boxElements(int(d)) - 1) * map.elementStride[d];
      if (at_[d] <= last) return;
      at_[d] = map.isIm2col ? int64_t(map.lowerCorner[d - 1]) : tile_.at[d];
    }
  }

private:
  const TensorTile& tile_;
  std::array<int64_t, kMaxTensorRank> at_;
  size_t row_ = 0; ///< of gathered ones
};

/// Calls visit(row) for every row of a tile, in the order of shared memory; rows outside of the tensor have first == last.
template <class Visit> void eachRow(const TensorTile& tile, Visit&& visit) {
  const TensorMap& map = tile.map;
  const int64_t extent = map.globalDim[0], begin = tile.at[0], box = map.boxDim[0];
  const int64_t first = std::clamp<int64_t>(-begin, 0, box), last = std::clamp<int64_t>(extent - begin, first, box);
  const uint32_t elementBytes = map.elementBytes();
  RowWalk walk(tile);
  for (uint64_t offset = 0, end = tile.sharedBytes(); offset < end; offset += map.rowPitch()) {
    TensorRow row{offset, map.globalAddress + uint64_t(begin + first) * elementBytes, uint32_t(first), uint32_t(last)};
    for (size_t d = 1; d < size_t(map.dimensions()); ++d) {
      const int64_t coordinate = walk.coordinate(d);
      if (coordinate < 0 || coordinate >= int64_t(map.globalDim[d])) row.last = row.first;
      row.global += uint64_t(coordinate) * map.globalStride[d - 1];
    }
    visit(row);
    walk.next();
  }
}

/// Where the 16-byte chunk at a shared address goes. `mode` as TensorMap::swizzle: the pattern repeats every 16 << mode chunks'
/// bytes, 256, 512 or 1024.
constexpr uint64_t swizzled(uint8_t mode, uint64_t address) {
  const uint64_t mask = (uint64_t(1) << mode) - 1;
  return address ^ (address >> 7 & mask) << 4;
}

/// The tile comes from global memory: elements outside of the tensor are filled in. `address` is the shared address of `shared`.
void loadTile(const TensorTile& tile, std::byte* shared, uint64_t address);

/// The tile goes to global memory, or is reduced into it; elements outside of the tensor are left out.
void storeTile(const TensorTile& tile, const std::byte* shared, uint64_t address, ReduceElements reduce);

/// Bytes of shared memory that a tile may touch from its first one on: whole lines of 128 bytes if it is swizzled.
inline uint64_t touchedBytes(const TensorTile& tile) {
  const uint64_t line = tile.map.swizzle ? 128 : 16;
  return (tile.sharedBytes() + line - 1) / line * line;
}

} // namespace tiletwin::sim
