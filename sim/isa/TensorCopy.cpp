#include "sim/isa/TensorCopy.h"
#include <bit>
#include <cstring>

namespace tiletwin::sim {

namespace {

constexpr uint32_t kChunk = 16, kMaxRowBytes = 256 * 8;

/// The NaN that stands for an out-of-bounds element.
uint64_t fillBits(TensorElement element) {
  switch (element) {
  case TensorElement::F16:
  case TensorElement::BF16: return 0x7FFF;
  case TensorElement::F32:
  case TensorElement::F32Ftz:
  case TensorElement::TF32:
  case TensorElement::TF32Ftz: return 0x7FFFFFFF;
  case TensorElement::F64: return 0x7FFFFFFFFFFFFFFF;
  default: return 0;
  }
}

void fillRow(std::byte* row, const TensorMap& map) {
  const uint32_t size = map.elementBytes();
  const uint64_t bits = map.fill ? fillBits(TensorElement(map.element)) : 0;
  if (bits == 0) {
    std::memset(row, 0, map.rowBytes());
    return;
  }
  for (uint32_t i = 0; i < map.boxDim[0]; ++i) std::memcpy(row + i * size, &bits, size);
}

/// What becomes of an f32 element on its way into shared memory.
uint32_t flushed(uint32_t bits) { return bits & 0x7F800000u ? bits : bits & 0x80000000u; }
uint32_t roundedToTf32(uint32_t bits) {
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude >= 0x7F800000u) return bits & 0xFFFFE000u ? bits : bits;
  return (bits + 0x1000u) & 0xFFFFE000u;
}

void convertRow(std::byte* row, const TensorMap& map, uint32_t first, uint32_t last) {
  const auto element = TensorElement(map.element);
  const bool flushes = element == TensorElement::F32Ftz || element == TensorElement::TF32Ftz;
  const bool rounds = element == TensorElement::TF32 || element == TensorElement::TF32Ftz;
  if (!flushes && !rounds) return;
  for (uint32_t i = first; i < last; ++i) {
    uint32_t bits;
    std::memcpy(&bits, row + i * 4, 4);
    if (flushes) bits = flushed(bits);
    if (rounds) bits = roundedToTf32(bits);
    std::memcpy(row + i * 4, &bits, 4);
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
