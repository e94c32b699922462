// tests/sim/AtomicReference.h -- what atomic operations on floats give.
#pragma once
#include "runtime/FloatFormats.h"
#include <bit>
#include <cmath>
#include <cstdint>

namespace tiletwin::sim {

/// f32 sums in double, rounded once; NaN is the canonical one.
inline uint64_t sum32(uint64_t x, uint64_t y, bool flush) {
  const auto value = [&](uint64_t v) {
    if (flush && (v & 0x7F800000) == 0) v &= 0x80000000;
    return std::bit_cast<float>(uint32_t(v));
  };
  const float r = float(double(value(x)) + double(value(y)));
  if (std::isnan(r)) return 0x7FFFFFFF;
  const uint32_t bits = std::bit_cast<uint32_t>(r);
  return flush && (bits & 0x7F800000) == 0 ? bits & 0x80000000 : bits;
}

inline uint64_t sum64(uint64_t x, uint64_t y) {
  const double r = std::bit_cast<double>(x) + std::bit_cast<double>(y);
  return std::isnan(r) ? 0xFFF8000000000000 : std::bit_cast<uint64_t>(r);
}

inline uint64_t sumOfHalves(uint64_t x, uint64_t y, bool isBF16) {
  const auto value = [=](uint64_t v) { return double(isBF16 ? bf16ToF32(uint16_t(v)) : f16ToF32(uint16_t(v))); };
  const double r = value(x) + value(y);
  if (std::isnan(r)) return 0x7FFF;
  return isBF16 ? f32ToBF16(f64ToF32Odd(r)) : f32ToF16(f64ToF32Odd(r));
}

/// The smaller or the larger of two halves by their bits: a number before NaN, -0 below 0.
inline uint64_t extremeOfHalves(uint64_t x, uint64_t y, uint64_t infinity, bool smaller) {
  const bool xNan = (x & 0x7FFF) > infinity, yNan = (y & 0x7FFF) > infinity;
  if (xNan || yNan) return xNan && yNan ? 0x7FFF : xNan ? y : x;
  const auto key = [](uint64_t v) { return v & 0x8000 ? -1 - int64_t(v & 0x7FFF) : int64_t(v); };
  return (key(x) < key(y)) == smaller ? x : y;
}

} // namespace tiletwin::sim
