// tests/sim/ConvertReference.h -- the types of cvt, and conversions between them by exact arithmetic.
// Not here:  forms (ConvertTest.cpp, ConvertClampTest.cpp), exact numbers (FloatReference.h).
#pragma once
#include "tests/sim/FloatReference.h"
#include "tests/sim/LaneForms.h"

namespace tiletwin::sim {

using reference::Exact;
using reference::Int;
using reference::Mode;
namespace ref = reference;

struct IntegerType {
  std::string name;
  int bits;
  bool isSigned;
  int lane() const { return bits == 8 ? 16 : bits; }
  Int least() const { return isSigned ? -(Int(1) << (bits - 1)) : Int(0); }
  Int most() const { return (Int(1) << (isSigned ? bits - 1 : bits)) - 1; }
  Int value(uint64_t v) const {
    const Int low = Int(v) & ((Int(1) << bits) - 1);
    return isSigned && low > most() ? low - (Int(1) << bits) : low;
  }
  /// As it lies in a register of `width` bits.
  uint64_t code(const Int& x, int width) const {
    const Int modulus = Int(1) << bits, low = (x % modulus + modulus) % modulus;
    const Int value = isSigned && low > most() ? Int(low - modulus) : low;
    return uint64_t((value + (Int(1) << width)) & ((Int(1) << width) - 1));
  }
};
inline const IntegerType kIntegers[] = {{"u8", 8, false},   {"s8", 8, true},   {"u16", 16, false}, {"s16", 16, true},
                                        {"u32", 32, false}, {"s32", 32, true}, {"u64", 64, false}, {"s64", 64, true}};

struct FloatType {
  std::string name;
  const ref::Format* format;
  char kind;
};
inline const FloatType kFloats[] = {
    {"f16", &ref::kF16, 'h'}, {"bf16", &ref::kBF16, 'g'}, {"f32", &ref::kF32, 'f'}, {"f64", &ref::kF64, 'l'}};

struct Rounding {
  std::string word;
  Mode mode;
};
inline const Rounding kRoundings[] = {{"rn", Mode::Even}, {"rz", Mode::Zero}, {"rm", Mode::Down}, {"rp", Mode::Up}};
inline const Rounding kIntegral[] = {{"rni", Mode::Even}, {"rzi", Mode::Zero}, {"rmi", Mode::Down}, {"rpi", Mode::Up}};

inline std::string reg(char name, int bits, char kind = 0) {
  std::string r = std::string(1, name) + std::to_string(bits);
  return kind ? r + kind : r;
}

inline Exact exactOf(const Int& x) {
  Exact r;
  r.negative = x < 0;
  r.m = abs(x);
  return r;
}

inline uint64_t flushed(const ref::Format& f, uint64_t code) { return code & f.infinity() ? code : code & f.sign(); }

/// A float code's exact value, and a NaN's fraction moved into f64's.
inline uint64_t toFloat(const FloatType& d, const FloatType& s, uint64_t code, Mode mode, bool finite = false,
                        bool relu = false) {
  Exact x = ref::decode(*s.format, code);
  if (x.nan && s.format == &ref::kF64) { // its sign and the upper part of its fraction
    const uint64_t fraction = (code | uint64_t(1) << 51) >> (52 - d.format->fraction);
    return (code >> 63 ? d.format->sign() : 0) | d.format->infinity() |
           (fraction & ((uint64_t(1) << d.format->fraction) - 1));
  }
  if (x.nan && d.format == &ref::kF64) {
    const uint64_t fraction = code & ((uint64_t(1) << s.format->fraction) - 1);
    return (code & s.format->sign() ? d.format->sign() : 0) | d.format->infinity() | uint64_t(1) << 51 |
           fraction << (52 - s.format->fraction);
  }
  if (x.nan && d.format == &ref::kF32 && s.format == &ref::kBF16) return code << 16; // a shift
  if (relu && !x.nan && (x.negative || x.zero())) x = Exact{};
  return ref::encode(*d.format, x, mode, finite);
}

inline Int toInteger(const IntegerType& d, const FloatType& s, uint64_t code, Mode mode) {
  const Exact x = ref::integral(ref::decode(*s.format, code), mode);
  if (x.nan) return d.bits == 64 || s.format == &ref::kF64 ? Int(1) << unsigned(d.bits - 1) : Int(0);
  if (x.infinite) return x.negative ? d.least() : d.most();
  const Int magnitude = x.m << unsigned(std::max<long>(x.e, 0)), value = x.negative ? Int(-magnitude) : magnitude;
  return std::min(std::max(value, d.least()), d.most());
}
/// A float of [0, 1]; NaN becomes 0.
inline uint64_t saturated(const FloatType& t, uint64_t code) {
  const Exact x = ref::decode(*t.format, code);
  if (x.nan || x.negative) return 0;
  const uint64_t one = uint64_t(t.format->bias) << t.format->fraction;
  return std::min(code, one);
}

/// A half as f32 with .ftz: of bf16 no longer a shift.
inline uint64_t flushedToF32(const FloatType& s, uint64_t code, Mode mode) {
  if (ref::decode(*s.format, code).nan) return ref::kF32.nan;
  return flushed(ref::kF32, toFloat(kFloats[2], s, code, mode));
}
} // namespace tiletwin::sim
