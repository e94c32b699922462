#include "sim/isa/TensorCopy.h"
#include <cstring>

namespace tiletwin::sim {

namespace {

constexpr uint32_t kChunk = 16, kMaxRowBytes = 256 * 8;

/// What stands for elements outside of the tensor where they are to be NaN: this pattern in every 16 bits, for all types, as an
/// H200 has it.
constexpr uint16_t kFillNaN = 0x7FF7;

void fillRow(std::byte* row, const TensorMap& map) {
  if (map.fill == 0) {
    std::memset(row, 0, map.rowBytes());
    return;
  }
  for (uint32_t i = 0; i < map.rowBytes(); i += 2) std::memcpy(row + i, &kFillNaN, sizeof kFillNaN);
}

/// To the 10 fraction bits of tf32, to nearest, ties to even; NaN becomes one NaN.
uint32_t roundedToTf32(uint32_t bits) {
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return 0x7FFFE000u;
  return (bits + 0xFFFu + (bits >> 13 & 1)) & 0xFFFFE000u;
}

/// What becomes of elements on their way into shared memory. Types with .ftz flush in reductions only.
void convertRow(std::byte* row, const TensorMap& map, uint32_t first, uint32_t last) {
  const auto element = TensorElement(map.element);
  if (element != TensorElement::TF32 && element != TensorElement::TF32Ftz) return;
  for (uint32_t i = first; i < last; ++i) {
    uint32_t bits;
    std::memcpy(&bits, row + i * sizeof bits, sizeof bits);
    bits = roundedToTf32(bits);
    std::memcpy(row + i * sizeof bits, &bits, sizeof bits);
  }
}

} // namespace

void loadTile(const TensorTile& tile, std::byte* shared, uint64_t address) {
  const TensorMap& map = tile.map;
  const uint32_t size = map.elementBytes(), rowBytes = map.rowBytes();
  std::byte row[kMaxRowBytes];
  eachRow(tile, [&](const TensorRow& place) {
    if (place.last - place.first < map.boxDim[0]) fillRow(row, map);
    std::memcpy(row + place.first * size, reinterpret_cast<const std::byte*>(place.global),
                (place.last - place.first) * size);
    convertRow(row, map, place.first, place.last);
    if (map.swizzle == 0) {
      std::memcpy(shared + place.offset, row, rowBytes);
      return;
    }
    for (uint32_t chunk = 0; chunk < rowBytes; chunk += kChunk)
      std::memcpy(shared + (swizzled(map.swizzle, address + place.offset + chunk) - address), row + chunk, kChunk);
  });
}

void storeTile(const TensorTile& tile, const std::byte* shared, uint64_t address, ReduceElements reduce) {
  const TensorMap& map = tile.map;
  const uint32_t size = map.elementBytes(), rowBytes = map.rowBytes();
  std::byte row[kMaxRowBytes];
  eachRow(tile, [&](const TensorRow& place) {
    if (place.first == place.last) return;
    for (uint32_t chunk = 0; chunk < rowBytes; chunk += kChunk)
      std::memcpy(row + chunk, shared + (swizzled(map.swizzle, address + place.offset + chunk) - address), kChunk);
    auto* global = reinterpret_cast<std::byte*>(place.global);
    const uint32_t count = place.last - place.first;
    if (reduce) {
      reduce(global, row + place.first * size, count);
    } else {
      std::memcpy(global, row + place.first * size, count * size);
    }
  });
}

} // namespace tiletwin::sim
