// sim/numerics/Convert.h -- conversions between formats, each rounded once: floats to smaller floats, floats to integers, integers to
// floats.
// Here:      Format and narrowed(), widened f64 values, toInteger(), fromInteger(), tf32.
// Not here:  which combinations cvt has (isa/Convert.cpp and its neighbours).
// Idea:      every float format widens to f64 exactly, so that one rounding from f64, on integers, serves all smaller formats. The
//            frequent cases use what the CPU has.
// Invariant: total over all inputs; NaNs as an H200 gives them: kNan16, kNan32, 0x7F for 8 bits; integers: 0, and for 64 bits 2^63.
#pragma once
#include "sim/numerics/Half.h"
#include <limits>
#include <type_traits>

namespace tiletwin::sim {

/// A float format: sign, exponent, fraction.
struct Format {
  int bits, fraction, bias;
  uint64_t maximum;  ///< code of the largest finite magnitude
  uint64_t infinity; ///< 0: there is none
  uint64_t nan;
};
inline constexpr Format kFormatF64{64, 52, 1023, 0x7FEFFFFFFFFFFFFF, kInfinity64, kNan64};
inline constexpr Format kFormatF32{32, 23, 127, 0x7F7FFFFF, kInfinity32, kNan32};
inline constexpr Format kFormatTF32{19, 10, 127, 0x3FBFF, 0x3FC00, 0x3FFFF}; ///< code of the upper 19 bits of 32
inline constexpr Format kFormatF16{16, 10, 15, 0x7BFF, 0x7C00, kNan16};
inline constexpr Format kFormatBF16{16, 7, 127, 0x7F7F, 0x7F80, kNan16};
inline constexpr Format kFormatE5M2{8, 2, 15, 0x7B, 0x7C, 0x7F};
inline constexpr Format kFormatE4M3{8, 3, 7, 0x7E, 0, 0x7F};

/// 1 if a magnitude that was cut off must go up: `rest` of 2^shift was lost from it.
template <Round R> inline uint64_t roundsUp(uint64_t kept, uint64_t rest, int shift, bool negative) {
  if constexpr (R == Round::TowardZero) return 0;
  if constexpr (R == Round::Down) return rest != 0 && negative;
  if constexpr (R == Round::Up) return rest != 0 && !negative;
  if (shift == 0) return 0;
  const uint64_t half = uint64_t(1) << (shift - 1);
  if constexpr (R == Round::NearestAway) return rest >= half;
  return rest > half || (rest == half && (kept & 1));
}

/// What is larger than a format's largest finite number becomes.
template <Round R> inline uint64_t overflowed(const Format& f, bool negative, bool finite) {
  const bool stays = R == Round::TowardZero || (R == Round::Down && !negative) || (R == Round::Up && negative);
  return finite || stays || !f.infinity ? f.maximum : f.infinity;
}

/// The magnitude m * 2^(field - bias - point) in a format: `field` is the exponent field that a leading bit at `point` would have.
template <Round R>
inline uint64_t rounded(const Format& f, uint64_t m, int point, int field, bool negative, bool finite) {
  int shift = point - f.fraction + (field < 1 ? 1 - field : 0);
  shift = shift > 63 ? 63 : shift;
  uint64_t code = m >> shift;
  const uint64_t rest = m & ((uint64_t(1) << shift) - 1);
  code += roundsUp<R>(code, rest, shift, negative);
  if (field > 1) code += uint64_t(field - 1) << f.fraction;
  return code > f.maximum ? overflowed<R>(f, negative, finite) : code;
}

/// The code of x in a format of at most 53 bits of precision. `finite`: too large numbers and infinities become the largest
/// finite one (.satfinite).
template <Round R> inline uint64_t narrowed(const Format& f, double x, bool finite = false) {
  const uint64_t b = bitsOf(x), magnitude = b & ~kSign64;
  if (magnitude > kInfinity64) return f.nan;
  const bool negative = b >> 63;
  const uint64_t sign = negative ? uint64_t(1) << (f.bits - 1) : 0;
  if (magnitude == kInfinity64) return sign | (finite || !f.infinity ? f.maximum : f.infinity);
  const int e = int(magnitude >> 52);
  const uint64_t m = (magnitude & 0xFFFFFFFFFFFFF) | (e ? uint64_t(1) << 52 : 0);
  return sign | rounded<R>(f, m, 52, (e ? e : 1) - 1023 + f.bias, negative, finite);
}

/// The code of an integer in a format.
template <Round R, class T> inline uint64_t fromInteger(const Format& f, T x) {
  const bool negative = x < 0;
  const uint64_t m = negative ? 0 - uint64_t(int64_t(x)) : uint64_t(x);
  if (m == 0) return 0;
  const int zeros = __builtin_clzll(m);
  // With a leading bit at 63; f64 needs 53 of these 64 bits.
  const uint64_t sign = negative ? uint64_t(1) << (f.bits - 1) : 0;
  return sign | rounded<R>(f, m << zeros, 63, 63 - zeros + f.bias, negative, false);
}

/// f32 as an f64, a NaN's payload and sign kept.
inline double widened(float x) {
  const uint64_t b = bitsOf(x);
  return x != x ? doubleOf((b >> 31) << 63 | kInfinity64 | kQuiet64 | (b & 0x7FFFFF) << 29) : double(x);
}
inline double widenedF16(uint16_t h) {
  return (h & 0x7FFF) > 0x7C00 ? doubleOf(uint64_t(h >> 15) << 63 | kInfinity64 | kQuiet64 | uint64_t(h & 0x3FF) << 42)
                               : double(half::F16::wide(h));
}
inline double widenedBF16(uint16_t h) { return widened(half::BF16::wide(h)); }

/// A NaN's sign and the upper part of its fraction in a smaller format, quiet: what conversions from f64 give. Conversions from
/// smaller formats give Format::nan.
inline uint64_t nanOf64(const Format& f, double x) {
  const uint64_t b = bitsOf(x) | kQuiet64, fraction = (uint64_t(1) << f.fraction) - 1;
  return (b >> 63) << (f.bits - 1) | f.infinity | (b >> (52 - f.fraction) & fraction);
}

template <Round R> inline float narrowedSingle(double x) {
  if constexpr (R == Round::NearestEven) return canonical(float(x));
  return floatOf(uint32_t(narrowed<R>(kFormatF32, x)));
}
template <Round R> inline uint16_t narrowedF16(double x) {
  if constexpr (R == Round::NearestEven) return half::F16::narrow(half::oddSingle(x));
  return uint16_t(narrowed<R>(kFormatF16, x));
}
template <Round R> inline uint16_t narrowedBF16(double x) {
  if constexpr (R == Round::NearestEven) return half::BF16::narrow(half::oddSingle(x));
  return uint16_t(narrowed<R>(kFormatBF16, x));
}

/// To an integer of the float's own type. NaN stays.
template <Round R> inline double integral(double x) {
  if constexpr (R == Round::TowardZero) return __builtin_trunc(x);
  if constexpr (R == Round::Down) return __builtin_floor(x);
  if constexpr (R == Round::Up) return __builtin_ceil(x);
  return __builtin_roundeven(x);
}
template <Round R> inline float integral(float x) {
  if constexpr (R == Round::TowardZero) return __builtin_truncf(x);
  if constexpr (R == Round::Down) return __builtin_floorf(x);
  if constexpr (R == Round::Up) return __builtin_ceilf(x);
  return __builtin_roundevenf(x);
}

/// What a NaN of f64 becomes as an integer: the highest bit alone. Those of smaller formats are 0, but for 64 bits.
template <class T> inline constexpr T kIntegerOfNan64 = T(uint64_t(1) << (8 * sizeof(T) - 1));

/// To an integer type; what does not fit becomes its nearest value.
template <class T, Round R> inline T toInteger(double x) {
  constexpr double least = double(std::numeric_limits<T>::min());
  const double r = integral<R>(x);
  if constexpr (sizeof(T) < 8) {
    constexpr double most = double(std::numeric_limits<T>::max());
    const double clamped = r < least ? least : (r > most ? most : r); // NaN stays
    const double number = clamped == clamped ? clamped : 0;
    if constexpr (std::is_same_v<T, uint32_t>) return T(int64_t(number));
    return T(int32_t(number));
  } else {
    constexpr double end = std::is_signed_v<T> ? 0x1p63 : 0x1p64; // the first one too large
    if (x != x) return T(kSign64);
    if (r >= end) return std::numeric_limits<T>::max();
    return r <= least ? std::numeric_limits<T>::min() : T(r);
  }
}

/// f32 to tf32 by .rna: what the GPU's sequence of integer instructions does, to NaNs too.
inline uint32_t awayTF32(uint32_t b) { return ((b & ~kSign32) < kInfinity32 ? b + 0x1000 : b) & 0xFFFFE000; }

} // namespace tiletwin::sim
