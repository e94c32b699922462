// sim/numerics/Half.h -- f16 and bf16: widening, rounding once, and arithmetic on them.
// Here:      F16 and BF16, each with wide(), narrow(), truncate() and its own fused multiply-add; operations as functions of 16-bit codes.
// Idea:      f32 has more than twice the digits of both formats, so that the sum or product of two numbers rounded to f32 and then
//            again is rounded as if once (Figueroa). A fused multiply-add, and products of bf16 that underflow, are first rounded to
//            odd: truncated, with the last bit set if anything was lost.
// Invariant: a NaN is kNan16.
#pragma once
#include "sim/numerics/Single.h"
#include <utility>

namespace tiletwin::sim::half {

/// f64 to f32, rounded to odd.
inline float oddSingle(double x) {
  const float nearest = float(x);
  const uint32_t b = bitsOf(nearest);
  const double back = double(nearest);
  const bool inexact = back != x && x == x;
  const bool above = std::fabs(back) > std::fabs(x);
  return floatOf(inexact && !(b & 1) ? (above ? b - 1 : b + 1) : b);
}

/// a * b + c rounded to odd in T, if a * b is exact in T.
template <class T> inline T oddSum(T product, T c) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const T s = product + c, bb = s - product, rest = (product - (s - bb)) + (c - bb);
  const Bits b = std::bit_cast<Bits>(s);
  const bool inexact = rest != 0 && rest == rest; // infinities: the rest is a NaN
  const bool outward = (rest < 0) == (s < 0);
  return std::bit_cast<T>(Bits(inexact && !(b & 1) ? (outward ? b + 1 : b - 1) : b));
}

struct F16 {
  static float wide(uint16_t h) { return float(std::bit_cast<_Float16>(h)); }
  static uint16_t narrow(float x) { return canonicalF16(std::bit_cast<uint16_t>(_Float16(x))); }
  /// Toward zero; from 2^16 on infinity.
  static uint16_t truncate(float x) {
    const uint16_t h = narrow(x);
    return uint16_t(h - (std::fabs(wide(h)) > std::fabs(x) && std::fabs(x) < 0x1p16f));
  }
  static float product(float a, float b) { return a * b; } // exact: 22 bits
  static float fma(float a, float b, float c) { return oddSum(a * b, c); }
  static uint16_t flush(uint16_t h) { return flushedF16(h); }
};

struct BF16 {
  static float wide(uint16_t h) { return floatOf(uint32_t(h) << 16); }
  static uint16_t narrow(float x) {
    const uint32_t b = bitsOf(x);
    return x != x ? kNan16 : uint16_t((b + 0x7FFF + (b >> 16 & 1)) >> 16);
  }
  static uint16_t truncate(float x) { return x != x ? kNan16 : uint16_t(bitsOf(x) >> 16); }
  static float product(float a, float b) { return oddSingle(double(a) * double(b)); }
  static float fma(float a, float b, float c) { return oddSingle(oddSum(double(a) * double(b), double(c))); }
  static uint16_t flush(uint16_t h) { return h & 0x7F80 ? h : uint16_t(h & 0x8000); }
};

inline constexpr auto kAdd = [](auto, float a, float b) -> float { return a + b; };
inline constexpr auto kSub = [](auto, float a, float b) -> float { return a - b; };
inline constexpr auto kMul = []<class F>(F, float a, float b) -> float { return F::product(a, b); };
inline constexpr auto kFma = []<class F>(F, float a, float b, float c) -> float { return F::fma(a, b, c); };
inline constexpr auto kNeg = [](auto, float a) -> float { return single::kNeg(a); };
inline constexpr auto kAbs = [](auto, float a) -> float { return single::kAbs(a); };
template <bool Maximum, bool PropagatesNan, bool XorSign>
inline constexpr auto kExtremum =
    [](auto, float a, float b) -> float { return single::kExtremum<Maximum, PropagatesNan, XorSign>(a, b); };

enum class Clamp : uint8_t { None, Sat, Relu };

/// An operation on codes of a format, with .ftz, and .sat or .relu.
template <class F, auto kOp, bool Ftz = false, Clamp C = Clamp::None>
inline constexpr auto kShaped = []<class... A>(A... a) -> uint16_t {
  float r = Ftz ? kOp(F(), F::wide(F::flush(a))...) : kOp(F(), F::wide(a)...);
  if constexpr (C == Clamp::Sat) r = saturated(r);
  if constexpr (C == Clamp::Relu) r = rectified(r);
  const uint16_t code = F::narrow(r);
  return Ftz ? F::flush(code) : code;
};

/// The NaN that tensor copies fill with where they are out of bounds (TensorCopy.cpp).
inline constexpr uint16_t kOutOfBounds = 0x7FF7;

/// fma.oob: zero if a factor is out of bounds.
template <auto kOp>
inline constexpr auto kOutOfBoundsZero = [](uint16_t a, uint16_t b, uint16_t c) -> uint16_t {
  return a == kOutOfBounds || b == kOutOfBounds ? uint16_t(0) : kOp(a, b, c);
};

/// An operation on both halves of 32 bits.
template <auto kOp>
inline constexpr auto kPacked = []<class... A>(A... a) -> uint32_t {
  const uint32_t low = kOp(uint16_t(a)...), high = kOp(uint16_t(a >> 16)...);
  return high << 16 | low;
};

} // namespace tiletwin::sim::half
