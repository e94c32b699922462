// sim/numerics/Special.h -- what the special function unit computes: 2^x, log2, 1/x, 1/sqrt(x), sqrt, sine, cosine, tanh, for f32, and
// the first guesses for f64.
//
// Here:      the unit's functions, bit for bit.
// Not here:  what surrounds them in an instruction: scaling of subnormal numbers, reduction of angles (isa/Approx.cpp).
// Idea:      each function is C0 + C1 X + C2 X^2 in fixed point on 64 or 128 segments of a fraction of 23 bits, with a square that
//            drops the low columns of its partial products, and truncation at the end. The coefficients are in SpecialTables.h
//            (data/fit_special.py has found them). tanh has fewer and wider segments, of which it reads the upper 17 bits.
// Known:     compared with an H200 by data/measure.py, with no difference: ex2, rcp, rsqrt, sqrt and tanh of every mantissa, lg2 of
//            every one in [0.5, 2) and of 4096 in each binade, sin and cos of 2^25 angles up to the largest, ex2 and tanh of all f16
//            and bf16, rcp64 and rsqrt64 of every mantissa and at the ends.
// Invariant: prepare() has been called. Subnormal inputs and results are zeros.
#pragma once
#include "sim/numerics/Half.h"
#include "sim/numerics/SpecialTables.h"

namespace tiletwin::sim::special {

/// Makes the table of squares; cheap when it is there. Thread-safe.
void prepare();
/// By X, 17 bits: X^2 / 2^34 in units of 2^-15.
extern const uint16_t* squares;

inline constexpr uint32_t kFraction = 0x7FFFFF;

/// The sum for a fraction of 23 bits, whose upper `segmentBits` choose the segment, in 2^-20 of a unit in the last place.
inline int64_t interpolate(const Segment* table, uint32_t fraction, int segmentBits = 6) {
  const Segment& s = table[fraction >> (23 - segmentBits)];
  const uint32_t x = (fraction << segmentBits & kFraction) >> 6;
  return s.c0 + int64_t(s.c1) * x * 4 + int64_t(s.c2) * squares[x] * 16; // halves: 2^(20 - 17 - 1), 2^(20 - 15 - 1)
}

/// A magnitude in units of 2^unit, truncated to f32; the result is a normal number or zero.
inline float truncatedFixed(uint64_t v, int unit, bool negative) {
  if (v == 0) return negative ? -0.0f : 0.0f;
  const int top = 63 - __builtin_clzll(v);
  const uint64_t m = top > 23 ? v >> (top - 23) : v << (23 - top);
  const uint32_t bits = uint32_t(top + unit + 127) << 23 | (uint32_t(m) & kFraction);
  return floatOf(bits | (negative ? kSign32 : 0));
}

inline float ex2(float x) {
  if (x != x) return floatOf(kNan32);
  if (x >= 128) return floatOf(kInfinity32);
  if (x < -126) return 0;
  // The exponent and fraction of a negative number are its magnitude's complement, unless it is an integer.
  const uint32_t q = uint32_t(std::fabs(x) * 0x1p23f);
  const uint32_t fixed = x < 0 ? (q & kFraction ? ~q : 0 - q) : q;
  const uint32_t y = uint32_t(interpolate(kEx2, fixed & kFraction) >> 20);
  return floatOf(uint32_t((int32_t(fixed) >> 23) + 127) * 0x800000u + (y & kFraction));
}

inline float rcp(float x) {
  const uint32_t b = bitsOf(x), sign = b & kSign32, fraction = b & kFraction;
  const int e = int(b >> 23 & 0xFF);
  if (x != x) return floatOf(kNan32);
  if (e == 0) return floatOf(sign | kInfinity32);
  const int field = fraction ? 253 - e : 254 - e;
  if (field < 1) return floatOf(sign);
  const uint32_t y = fraction ? uint32_t(interpolate(kRcp, fraction, 7) >> 20) : 0;
  return floatOf(sign | uint32_t(field) << 23 | (y & kFraction));
}

inline float rsqrt(float x) {
  const uint32_t b = bitsOf(x), fraction = b & kFraction;
  const int e = int(b >> 23 & 0xFF) - 127;
  if (e == -127) return floatOf((b & kSign32) | kInfinity32);
  if (!(x > 0)) return floatOf(kNan32);
  if (e == 128) return 0;
  const bool odd = e & 1;
  const int half = (e - odd) / 2; // x = m 4^half, m in [1, 4)
  if (!odd && fraction == 0) return floatOf(uint32_t(127 - half) << 23);
  const uint32_t y = uint32_t(interpolate(odd ? kRsqOdd : kRsqEven, fraction) >> 20);
  return floatOf(uint32_t(126 - half) << 23 | (y & kFraction));
}

inline float sqrt(float x) {
  const uint32_t b = bitsOf(x), fraction = b & kFraction;
  const int e = int(b >> 23 & 0xFF) - 127;
  if (e == -127) return floatOf(b & kSign32);
  if (!(x > 0)) return floatOf(kNan32);
  if (e == 128) return x;
  const bool odd = e & 1;
  const int half = (e - odd) / 2;
  if (!odd && fraction == 0) return floatOf(uint32_t(127 + half) << 23);
  const uint32_t y = uint32_t(interpolate(odd ? kSqrtOdd : kSqrtEven, fraction) >> 20);
  return floatOf(uint32_t(127 + half) << 23 | (y & kFraction));
}

/// The exponent is added in fixed point of 36 bits; a negative sum's magnitude is its complement, one unit less.
inline float lg2(float x) {
  const uint32_t b = bitsOf(x), fraction = b & kFraction;
  const int e = int(b >> 23 & 0xFF) - 127;
  if (e == -127) return floatOf(kSign32 | kInfinity32);
  if (!(x > 0)) return floatOf(kNan32);
  if (e == 128) return x;
  if (x == 1) return 0;
  const int64_t sum = (int64_t(e) * (int64_t(1) << 43) + interpolate(kLg2, fraction)) >> 7;
  return truncatedFixed(uint64_t(sum < 0 ? ~sum : sum), -36, sum < 0);
}

/// Sine of a number of turns, from `quarters` quarter turns on (1: the cosine). Only the cosine is an even function.
inline float sineOfTurns(float x, uint32_t quarters) {
  const uint32_t b = bitsOf(x);
  const int e = int(b >> 23 & 0xFF);
  if (e == 255) return floatOf(kNan32);
  // The magnitude in 2^-25 turns, truncated; from 2^40 on whole turns are all there is.
  const uint64_t m = (b & kFraction) | 0x800000;
  const int shift = e - 150 + 25;
  const uint64_t phase = e == 0 || shift < -24 || shift > 38 ? 0 : shift < 0 ? m >> -shift : m << shift;
  const uint32_t p = uint32_t(phase) + (quarters << 23), quadrant = p >> 23 & 3, f = p & kFraction;
  const bool negative = (quadrant >= 2) != (quarters == 0 && b >> 31);
  if (f == 0) return quadrant & 1 ? (negative ? -1.0f : 1.0f) : (negative ? -0.0f : 0.0f);
  return truncatedFixed(uint64_t(interpolate(kSin, quadrant & 1 ? kFraction - f : f)), -43, negative);
}
inline float sin(float turns) { return sineOfTurns(turns, 0); }
inline float cos(float turns) { return sineOfTurns(turns, 1); }

/// Below 2^-8 the number itself, subnormal or not; from 8 on 1.
inline float tanh(float x) {
  const uint32_t b = bitsOf(x), sign = b & kSign32;
  const int e = int(b >> 23 & 0xFF) - 127;
  if (x != x) return floatOf(kNan32);
  if (e < -8) return x;
  if (e >= 3) return floatOf(sign | 0x3F800000);
  const TanhBinade& binade = kTanhBinades[e + 8];
  const int64_t sum = interpolate(kTanh + binade.first, b & kFraction, binade.segmentBits);
  return truncatedFixed(uint64_t(sum), e - 43, sign != 0);
}

/// 1/x and 1/sqrt(x) for f64: the result's upper 32 bits from the operand's; its lower 32 are not looked at, and are zero.
double rcp64(double x);
double rsqrt64(double x);

} // namespace tiletwin::sim::special
