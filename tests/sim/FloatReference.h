// tests/sim/FloatReference.h -- floating point by exact arithmetic on integers of any size, rounded at the end: the reference for all
// float instructions.
// Here:      formats, exact values with signs, infinities and NaNs, sums, products, quotients, roots, rounding in every mode.
// Not here:  anything of sim/numerics: none of its code is used.
#pragma once
#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <cstdlib>

namespace tiletwin::sim::reference {

using Int = boost::multiprecision::cpp_int;

struct Format {
  int bits, fraction, bias;
  bool hasInfinity; ///< no: the largest exponent holds numbers, all ones is the NaN
  uint64_t nan;     ///< what operations give
  uint64_t sign() const { return uint64_t(1) << (bits - 1); }
  uint64_t infinity() const { return ((uint64_t(1) << (bits - 1 - fraction)) - 1) << fraction; }
  uint64_t maximum() const { return hasInfinity ? infinity() - 1 : sign() - 2; }
};
inline const Format kF64{64, 52, 1023, true, 0xFFF8000000000000}, kF32{32, 23, 127, true, 0x7FFFFFFF},
    kF16{16, 10, 15, true, 0x7FFF}, kBF16{16, 7, 127, true, 0x7FFF}, kTF32{19, 10, 127, true, 0x3FFFF},
    kE5M2{8, 2, 15, true, 0x7F}, kE4M3{8, 3, 7, false, 0x7F};

enum class Mode { Even, Zero, Down, Up, Away };

/// +-m * 2^e, an infinity, or a NaN. A zero has a sign.
struct Exact {
  bool nan = false, infinite = false, negative = false;
  Int m = 0;
  long e = 0;
  bool zero() const { return !nan && !infinite && m == 0; }
};

inline Exact nan() {
  Exact x;
  x.nan = true;
  return x;
}
inline Exact infinity(bool negative) {
  Exact x;
  x.infinite = true;
  x.negative = negative;
  return x;
}

inline Exact decode(const Format& f, uint64_t code) {
  const uint64_t magnitude = code & (f.sign() - 1);
  Exact x;
  x.negative = code & f.sign();
  if (f.hasInfinity ? magnitude > f.infinity() : magnitude == f.sign() - 1) return nan();
  if (f.hasInfinity && magnitude == f.infinity()) return infinity(x.negative);
  const uint64_t field = magnitude >> f.fraction, part = magnitude & ((uint64_t(1) << f.fraction) - 1);
  x.m = field ? part + (uint64_t(1) << f.fraction) : part;
  x.e = long(field ? field : 1) - f.bias - f.fraction;
  return x;
}

/// q + 1 where the mode goes up, of a magnitude q + rest / unit.
inline Int round(Int q, const Int& rest, const Int& unit, Mode mode, bool negative) {
  const Int twice = rest * 2;
  bool up = false;
  switch (mode) {
  case Mode::Even: up = twice > unit || (twice == unit && (q & 1) != 0); break;
  case Mode::Away: up = twice >= unit; break;
  case Mode::Zero: break;
  case Mode::Down: up = negative && rest != 0; break;
  case Mode::Up: up = !negative && rest != 0; break;
  }
  return up ? q + 1 : q;
}

/// `finite`: what is too large becomes the largest finite number in any mode.
inline uint64_t encode(const Format& f, const Exact& x, Mode mode, bool finite = false) {
  const uint64_t sign = x.negative ? f.sign() : 0;
  if (x.nan) return f.nan;
  if (x.infinite) return sign | (finite || !f.hasInfinity ? f.maximum() : f.infinity());
  if (x.m == 0) return sign;
  const long top = long(msb(x.m)) + x.e;
  const long last = std::max<long>(top - f.fraction, 1 - f.bias - f.fraction); // exponent of the last place
  Int q, rest = 0, unit = 1;
  if (x.e >= last) {
    q = x.m << unsigned(x.e - last);
  } else {
    unit <<= unsigned(last - x.e);
    divide_qr(x.m, unit, q, rest);
  }
  q = round(q, rest, unit, mode, x.negative);
  const Int one = Int(1) << unsigned(f.fraction);
  const Int code = q < one ? q : (Int(last + f.fraction + f.bias) << unsigned(f.fraction)) + (q - one);
  if (code <= f.maximum()) return sign | uint64_t(code);
  const bool stays = mode == Mode::Zero || (mode == Mode::Down && !x.negative) || (mode == Mode::Up && x.negative);
  return sign | (stays || finite || !f.hasInfinity ? f.maximum() : f.infinity());
}

inline Exact negate(Exact x) {
  x.negative = !x.negative;
  return x;
}

inline Exact multiply(const Exact& a, const Exact& b) {
  if (a.nan || b.nan || (a.infinite && b.zero()) || (b.infinite && a.zero())) return nan();
  Exact r;
  r.negative = a.negative != b.negative;
  r.infinite = a.infinite || b.infinite;
  r.m = a.m * b.m;
  r.e = a.e + b.e;
  return r;
}

inline Exact add(const Exact& a, const Exact& b, Mode mode) {
  if (a.nan || b.nan || (a.infinite && b.infinite && a.negative != b.negative)) return nan();
  if (a.infinite) return a;
  if (b.infinite) return b;
  Exact r;
  r.e = std::min(a.e, b.e);
  const Int x = a.m << unsigned(a.e - r.e), y = b.m << unsigned(b.e - r.e);
  const Int sum = (a.negative ? Int(-x) : x) + (b.negative ? Int(-y) : y);
  r.m = abs(sum);
  r.negative = sum < 0;
  if (sum == 0) r.negative = a.negative == b.negative ? a.negative : mode == Mode::Down;
  return r;
}

/// Quotients and roots get one more digit far below, if there is a remainder: no rounding can tell it from the rest.
inline Exact divide(const Exact& a, const Exact& b) {
  if (a.nan || b.nan || (a.infinite && b.infinite) || (a.zero() && b.zero())) return nan();
  Exact r;
  r.negative = a.negative != b.negative;
  if (a.infinite || b.zero()) return infinity(r.negative);
  if (b.infinite || a.zero()) return r;
  Int q, rest;
  divide_qr(Int(a.m << 200), b.m, q, rest);
  r.m = q * 2 + (rest != 0 ? 1 : 0);
  r.e = a.e - b.e - 201;
  return r;
}

inline Exact root(const Exact& a) {
  if (a.nan || (a.negative && !a.zero())) return nan();
  if (a.infinite || a.zero()) return a;
  Exact r;
  Int m = a.m << 200;
  long e = a.e - 200;
  if (e % 2) m *= 2, --e;
  Int rest;
  const Int s = sqrt(m, rest);
  r.m = s * 2 + (rest != 0 ? 1 : 0);
  r.e = e / 2 - 1;
  return r;
}

/// To an integer value, in the same mode names.
inline Exact integral(const Exact& x, Mode mode) {
  if (x.nan || x.infinite || x.e >= 0) return x;
  Exact r = x;
  const Int unit = Int(1) << unsigned(-x.e);
  Int rest;
  divide_qr(x.m, unit, r.m, rest);
  r.m = round(r.m, rest, unit, mode, x.negative);
  r.e = 0;
  return r;
}

} // namespace tiletwin::sim::reference
