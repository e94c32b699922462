// runtime/FloatFormats.h -- exact scalar conversions between f32 and the narrow float formats: f16, bf16, tf32 and five f8 formats.
// Here:      the one description of each format, and conversions that are right for every input (subnormals, infinities, NaNs, -0).
// Not here:  vectorised conversions (interp/tile), which are tested against these.
// Header only; standard library only; everything constexpr.
#pragma once
#include "runtime/DType.h"
#include <bit>
#include <cstdint>

namespace tiletwin {

/// A float format of at most 16 bits: sign, exponent, `mantissaBits` fraction bits.
struct SmallFloat {
  int bits;
  int mantissaBits;
  int bias;
  uint32_t maxFinite; ///< code of the largest finite magnitude
  uint32_t infinity;  ///< code of infinity, or 0 if the format has none
  uint32_t nan;       ///< code of the quiet NaN that conversions produce
  bool saturates;     ///< conversions of too large values (and infinities) give maxFinite
  bool unsignedZero;  ///< FNUZ: there is no -0; its code is the only NaN
};
inline constexpr SmallFloat kF16{16, 10, 15, 0x7BFF, 0x7C00, 0x7E00, false, false};
inline constexpr SmallFloat kBF16{16, 7, 127, 0x7F7F, 0x7F80, 0x7FC0, false, false};
inline constexpr SmallFloat kF8E5M2{8, 2, 15, 0x7B, 0x7C, 0x7F, true, false};
inline constexpr SmallFloat kF8E4M3FN{8, 3, 7, 0x7E, 0, 0x7F, true, false};
inline constexpr SmallFloat kF8E4M3B11FNUZ{8, 3, 11, 0x7F, 0, 0x80, true, true};
inline constexpr SmallFloat kF8E5M2FNUZ{8, 2, 16, 0x7F, 0, 0x80, true, true};
inline constexpr SmallFloat kF8E4M3FNUZ{8, 3, 8, 0x7F, 0, 0x80, true, true};

/// The description of a format; for a type that is not a small float, bits == 0.
constexpr SmallFloat smallFloat(DType t) {
  switch (t) {
  case DType::F16: return kF16;
  case DType::BF16: return kBF16;
  case DType::F8E5M2: return kF8E5M2;
  case DType::F8E4M3FN: return kF8E4M3FN;
  case DType::F8E4M3B11FNUZ: return kF8E4M3B11FNUZ;
  case DType::F8E5M2FNUZ: return kF8E5M2FNUZ;
  case DType::F8E4M3FNUZ: return kF8E4M3FNUZ;
  default: return {};
  }
}

enum class Rounding : uint8_t { NearestEven, TowardZero };

constexpr bool isNanCode(const SmallFloat& f, uint32_t code) {
  const uint32_t sign = 1u << (f.bits - 1);
  if (f.unsignedZero) return code == sign;
  return (code & (sign - 1)) > (f.infinity ? f.infinity : f.maxFinite);
}

/// The f32 value of a code; exact.
constexpr float decodeSmallFloat(const SmallFloat& f, uint32_t code) {
  const uint32_t signBit = 1u << (f.bits - 1);
  const uint32_t sign = (code & signBit) ? 0x80000000u : 0u, magnitude = code & (signBit - 1);
  if (isNanCode(f, code))
    return std::bit_cast<float>(sign | 0x7FC00000u | (f.unsignedZero ? 0u : magnitude << (23 - f.mantissaBits)));
  if (f.infinity && magnitude == f.infinity) return std::bit_cast<float>(sign | 0x7F800000u);
  int exponent = int(magnitude >> f.mantissaBits);
  uint32_t fraction = magnitude & ((1u << f.mantissaBits) - 1);
  if (exponent == 0) {
    if (f.bias == 127 || fraction == 0)
      return std::bit_cast<float>(sign | fraction << (23 - f.mantissaBits)); // bf16: also an f32 subnormal
    exponent = 1;
    while (!(fraction >> f.mantissaBits)) fraction <<= 1, --exponent;
    fraction &= (1u << f.mantissaBits) - 1;
  }
  return std::bit_cast<float>(sign | uint32_t(exponent - f.bias + 127) << 23 | fraction << (23 - f.mantissaBits));
}

/// The code of an f32 value, rounded once. Too large: infinity, or maxFinite where the format saturates or rounding is
/// toward zero. An infinity stays one where the format has it, unless the format saturates and rounding is to nearest.
constexpr uint32_t encodeSmallFloat(const SmallFloat& f, float value, Rounding rounding = Rounding::NearestEven) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), magnitude = bits & 0x7FFFFFFFu;
  const uint32_t sign = (bits >> 31) << (f.bits - 1);
  if (magnitude > 0x7F800000u) return f.unsignedZero ? f.nan : sign | f.nan;
  const bool keepsInfinity = f.infinity != 0 && (rounding == Rounding::TowardZero || !f.saturates);
  if (magnitude == 0x7F800000u) return sign | (keepsInfinity ? f.infinity : f.maxFinite);
  const int biased = int(magnitude >> 23);
  const uint64_t significand = (magnitude & 0x7FFFFFu) | (biased ? 0x800000u : 0u);
  const int exponent = (biased ? biased : 1) - 127 + f.bias; // the field in the target, if it is >= 1
  int shift = 23 - f.mantissaBits + (exponent < 1 ? 1 - exponent : 0);
  if (shift > 60) shift = 60;
  uint32_t code = uint32_t(significand >> shift) + (exponent > 1 ? uint32_t(exponent - 1) << f.mantissaBits : 0u);
  if (rounding == Rounding::NearestEven) {
    const uint64_t rest = significand & ((uint64_t(1) << shift) - 1), half = uint64_t(1) << (shift - 1);
    if (rest > half || (rest == half && (code & 1))) ++code;
  }
  if (code > f.maxFinite) code = f.saturates || rounding == Rounding::TowardZero ? f.maxFinite : f.infinity;
  return f.unsignedZero && code == 0 ? 0u : sign | code;
}

constexpr float f16ToF32(uint16_t code) { return decodeSmallFloat(kF16, code); }
constexpr uint16_t f32ToF16(float v, Rounding r = Rounding::NearestEven) {
  return uint16_t(encodeSmallFloat(kF16, v, r));
}
constexpr float bf16ToF32(uint16_t code) { return std::bit_cast<float>(uint32_t(code) << 16); }
constexpr uint16_t f32ToBF16(float v, Rounding r = Rounding::NearestEven) {
  return uint16_t(encodeSmallFloat(kBF16, v, r));
}
constexpr float f8ToF32(DType format, uint8_t code) { return decodeSmallFloat(smallFloat(format), code); }
constexpr uint8_t f32ToF8(DType format, float v, Rounding r = Rounding::NearestEven) {
  return uint8_t(encodeSmallFloat(smallFloat(format), v, r));
}
/// tf32 as tensor cores read f32 operands: the low 13 bits dropped. A NaN stays one.
constexpr float f32ToTf32(float v) {
  const uint32_t bits = std::bit_cast<uint32_t>(v);
  return std::bit_cast<float>((bits & 0x7FFFFFFFu) > 0x7F800000u ? (bits & 0xFFFFE000u) | 0x00400000u
                                                                 : bits & 0xFFFFE000u);
}
/// f64 to f32 rounded to odd (truncate, then set the last bit if anything was lost): rounding the result again to a
/// format of at most 22 significant bits equals rounding the f64 once.
constexpr float f64ToF32Odd(double v) {
  const uint64_t bits = std::bit_cast<uint64_t>(v), magnitude = bits & 0x7FFFFFFFFFFFFFFFull;
  const uint32_t sign = uint32_t(bits >> 63) << 31;
  if (magnitude > 0x7FF0000000000000ull) return std::bit_cast<float>(sign | 0x7FC00000u);
  if (magnitude == 0x7FF0000000000000ull) return std::bit_cast<float>(sign | 0x7F800000u);
  const int exponent = int(magnitude >> 52) - 1023 + 127; // field in f32, if >= 1
  if (exponent >= 255) return std::bit_cast<float>(sign | 0x7F7FFFFFu);
  const uint64_t significand = (magnitude & 0xFFFFFFFFFFFFFull) | (magnitude >> 52 ? 0x10000000000000ull : 0ull);
  int shift = 29 + (exponent < 1 ? 1 - exponent : 0);
  if (shift > 60) shift = 60;
  uint32_t code = uint32_t(significand >> shift) + (exponent > 1 ? uint32_t(exponent - 1) << 23 : 0u);
  if (significand & ((uint64_t(1) << shift) - 1)) code |= 1;
  return std::bit_cast<float>(sign | code);
}

} // namespace tiletwin
