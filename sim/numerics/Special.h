// sim/numerics/Special.h -- what the special function unit computes: 2^x, log2, 1/x, 1/sqrt(x), sqrt, sine, cosine, tanh, for f32, and
// the first guesses for f64.
//
// Here:      the unit's functions, bit for bit where the H200's results are known (see below).
// Not here:  what surrounds them in an instruction: scaling of subnormal numbers, reduction of angles (isa/Approx.cpp).
// Idea:      each function is C0 + C1 X + C2 X^2 in fixed point on 64 or 128 segments of a fraction of 23 bits, with a square that
//            drops the low columns of its partial products, and truncation at the end. The coefficients are in SpecialTables.cpp;
//            they give all of the 60 million recorded results (data/fit_special.py).
// Known:     ex2 of every input; rcp, rsqrt and sqrt of every mantissa; lg2 of every eighth one and exponent 0; sin and cos of
//            130 000 angles, from which all coefficients follow. Not recorded: lg2 of x < 1 (the sum is taken to be exact, and
//            its magnitude truncated), angles beyond 10^6 turns, f16 and bf16 forms (the f32 function's result, rounded), tanh (the
//            true value, rounded), rcp64 and rsqrt64 (the upper 20 bits of the f32 function's fraction). data/measure.py records them.
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

/// The sum for a fraction of 23 bits, in 2^-20 of a unit in the last place.
template <int SegmentBits = 6> inline int64_t interpolate(const Segment* table, uint32_t fraction) {
  const Segment& s = table[fraction >> (23 - SegmentBits)];
  const uint32_t x = fraction << (SegmentBits - 6) & 0x1FFFF;
  return s.c0 + int64_t(s.c1) * x * 4 + int64_t(s.c2) * squares[x] * 16; // halves: 2^(20 - 17 - 1), 2^(20 - 15 - 1)
}

/// A magnitude in units of 2^-43, truncated to f32.
inline float truncatedFixed(uint64_t v, bool negative) {
  if (v == 0) return negative ? -0.0f : 0.0f;
  const int top = 63 - __builtin_clzll(v);
  const uint64_t m = top > 23 ? v >> (top - 23) : v << (23 - top);
  const uint32_t bits = uint32_t(top - 43 + 127) << 23 | (uint32_t(m) & kFraction);
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
  const uint32_t y = fraction ? uint32_t(interpolate<7>(kRcp, fraction) >> 20) : 0;
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

inline float lg2(float x) {
  const uint32_t b = bitsOf(x), fraction = b & kFraction;
  const int e = int(b >> 23 & 0xFF) - 127;
  if (e == -127) return floatOf(kSign32 | kInfinity32);
  if (!(x > 0)) return floatOf(kNan32);
  if (e == 128) return x;
  const int64_t sum = int64_t(e) * (int64_t(1) << 43) + (fraction ? interpolate(kLg2, fraction) : 0);
  return truncatedFixed(uint64_t(sum < 0 ? -sum : sum), sum < 0);
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
  return truncatedFixed(uint64_t(interpolate(kSin, quadrant & 1 ? kFraction - f : f)), negative);
}
inline float sin(float turns) { return sineOfTurns(turns, 0); }
inline float cos(float turns) { return sineOfTurns(turns, 1); }

float tanh(float x);

/// 1/x and 1/sqrt(x) for f64: the result's upper 32 bits from the operand's, zeros below.
double rcp64(double x);
double rsqrt64(double x);

} // namespace tiletwin::sim::special
