// sim/numerics/Rounding.h -- bits of floats, canonical NaNs, rounding modes: what all of the simulator's arithmetic begins with.
// Here:      bit casts, Round, flush to zero, saturation to [0, 1], clamping of negative values.
// Not here:  arithmetic (Single.h, Double.h, Half.h), conversions (Convert.h).
// Source:    "PTX ISA", NVIDIA, 9.7.3 to 9.7.5; NaNs as an H200 gives them.
#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

namespace tiletwin::sim {

/// .rn .rz .rm .rp, and .rna: to nearest, ties away from zero.
enum class Round : uint8_t { NearestEven, TowardZero, Down, Up, NearestAway };
/// A rounding mode as an argument that the compiler knows.
template <Round R> using RoundConstant = std::integral_constant<Round, R>;
inline constexpr RoundConstant<Round::NearestEven> kNearest;

/// The NaN that f32 operations give whatever NaN they are given; f16 and bf16 share one.
inline constexpr uint32_t kNan32 = 0x7FFFFFFF;
inline constexpr uint16_t kNan16 = 0x7FFF;
/// The NaN of an invalid f64 operation. Operations on NaNs hand on the payload of one of them.
inline constexpr uint64_t kNan64 = 0xFFF8000000000000;

inline uint32_t bitsOf(float x) { return std::bit_cast<uint32_t>(x); }
inline uint64_t bitsOf(double x) { return std::bit_cast<uint64_t>(x); }
inline float floatOf(uint32_t bits) { return std::bit_cast<float>(bits); }
inline double doubleOf(uint64_t bits) { return std::bit_cast<double>(bits); }

inline constexpr uint32_t kSign32 = 0x80000000, kInfinity32 = 0x7F800000;
inline constexpr uint64_t kSign64 = uint64_t(1) << 63, kInfinity64 = uint64_t(0x7FF) << 52,
                          kQuiet64 = uint64_t(1) << 51;

/// On bits: the compiler knows better than the comparison x != x where a square root's NaN comes from, and loses it.
inline bool isNan(float x) { return (bitsOf(x) & ~kSign32) > kInfinity32; }
inline bool isNan(double x) { return (bitsOf(x) & ~kSign64) > kInfinity64; }
inline float canonical(float x) { return isNan(x) ? floatOf(kNan32) : x; }
inline uint16_t canonicalF16(uint16_t h) { return (h & 0x7FFF) > 0x7C00 ? kNan16 : h; }

/// .ftz: subnormal numbers become zeros of their sign.
inline float flushed(float x) {
  const uint32_t b = bitsOf(x);
  return floatOf(b & kInfinity32 ? b : b & kSign32);
}
inline uint16_t flushedF16(uint16_t h) { return h & 0x7C00 ? h : uint16_t(h & 0x8000); }

/// .sat: into [0, 1]; NaN and -0 become +0.
template <class T> inline T saturated(T x) { return x > 0 ? (x < 1 ? x : T(1)) : T(0); }
/// .relu: what is not above zero becomes +0; NaN stays.
template <class T> inline T rectified(T x) { return x <= 0 ? T(0) : x; }

/// +1 or -1: the step of the bits of `nearest` that leads from the value nearest to an exact one to the one that R asks for.
/// `rest` has the sign of the exact value less `nearest`, which has the exact value's sign.
template <Round R> inline float directed(float nearest, double rest) {
  const uint32_t b = bitsOf(nearest);
  const bool negative = b >> 31;
  // Away from zero adds one to the bits, toward zero takes one off, on both sides of zero.
  if constexpr (R == Round::TowardZero) return floatOf(b - uint32_t(negative ? rest > 0 : rest < 0));
  if constexpr (R == Round::Down) return floatOf(b + uint32_t(rest < 0 ? (negative ? 1 : -1) : 0));
  if constexpr (R == Round::Up) return floatOf(b + uint32_t(rest > 0 ? (negative ? -1 : 1) : 0));
  return nearest;
}

} // namespace tiletwin::sim
