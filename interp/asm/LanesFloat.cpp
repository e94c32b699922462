// interp/asm/LanesFloat.cpp -- conversions with PTX's roundings, subnormals flushed to zero, saturation, questions
// about floats. Not here: arithmetic and conversions to nearest, which are the tile module's.
#include "interp/asm/Lanes.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace tiletwin::interp {
namespace {

template <class To, class From> To convert(From x) { return To(x); }
template <class To, class From> To convertClamped(From x) {
  using W = __int128;
  const W wide = x, lo = std::numeric_limits<To>::min(), hi = std::numeric_limits<To>::max();
  return To(wide < lo ? lo : wide > hi ? hi : wide);
}
/// Rounded in the mode that is set. 0 apart: compilers may build unsigned conversions from differences, -0 when
/// rounding down.
template <class To, class From> To toFloat(From x) {
  if (x == 0) return To(0);
  if constexpr (std::is_same_v<From, uint64_t>) {
    if (x >> 63) {
      const To half = To(int64_t(x >> 1 | (x & 1)));
      return half + half;
    }
  }
  return To(int64_t(x));
}
template <class From> double toOddF64(From x) {
  const double nearest = toFloat<double>(x);
  const __int128 error = __int128(x) - __int128(nearest);
  uint64_t bits = std::bit_cast<uint64_t>(nearest);
  if (error != 0 && !(bits & 1)) bits += (error > 0) == (nearest > 0) ? 1 : -1;
  return std::bit_cast<double>(bits);
}
template <class F, AsmRound R> F rounded(F x) {
  if constexpr (R == AsmRound::Nearest)
    return std::nearbyint(x);
  else if constexpr (R == AsmRound::Down)
    return std::floor(x);
  else if constexpr (R == AsmRound::Up)
    return std::ceil(x);
  else
    return std::trunc(x);
}
template <class To, class F, AsmRound R> To toInt(F x) {
  using Limits = std::numeric_limits<To>;
  if (x != x) return sizeof(To) == 8 || sizeof(F) == 8 ? To(uint64_t(1) << (sizeof(To) * 8 - 1)) : To(0);
  const F r = rounded<F, R>(x);
  constexpr F kAbove = F(uint64_t(1) << (Limits::digits - 1)) * 2;
  return r < F(Limits::min()) ? Limits::min() : r >= kAbove ? Limits::max() : To(r);
}

#define TILETWIN_ASM_INTS(X, ...)                                                                                      \
  X(uint8_t, __VA_ARGS__), X(uint16_t, __VA_ARGS__), X(uint32_t, __VA_ARGS__), X(uint64_t, __VA_ARGS__),               \
      X(int8_t, __VA_ARGS__), X(int16_t, __VA_ARGS__), X(int32_t, __VA_ARGS__), X(int64_t, __VA_ARGS__)
constexpr size_t kInts = size_t(AsmInt::Count);
template <class From> struct FromInt {
#define X(To, unused) kLanes<convert<To, From>>
  static constexpr TwStripFn plain[kInts] = {TILETWIN_ASM_INTS(X, 0)};
#undef X
#define X(To, unused) kLanes<convertClamped<To, From>>
  static constexpr TwStripFn clamped[kInts] = {TILETWIN_ASM_INTS(X, 0)};
#undef X
};
template <class F, AsmRound R> struct FromFloat {
#define X(To, unused) kLanes<toInt<To, F, R>>
  static constexpr TwStripFn toInts[kInts] = {TILETWIN_ASM_INTS(X, 0)};
#undef X
};

uint32_t tf32(uint32_t bits, uint32_t bias) {
  const bool finite = (bits & 0x7F800000u) != 0x7F800000u;
  return finite ? (bits + bias) & 0xFFFFE000u : bits & 0x7FFFFFu ? 0x7FFFE000u : bits;
}
/// NaNs lose their low bits, which may leave an infinity.
uint32_t tf32Away(uint32_t x) { return (x & 0x7FFFFFFFu) > 0x7F800000u ? x & 0xFFFFE000u : tf32(x, 0x1000u); }
uint32_t tf32Even(uint32_t x) { return tf32(x, 0xFFFu + (x >> 13 & 1)); }
uint32_t tf32Zero(uint32_t x) { return tf32(x, 0); }

uint32_t flush32(uint32_t x) { return x & 0x7F800000u ? x : x & 0x80000000u; }
uint16_t flush16(uint16_t x) { return x & 0x7C00u ? x : uint16_t(x & 0x8000u); }
float flushed(float x) { return std::bit_cast<float>(flush32(std::bit_cast<uint32_t>(x))); }
/// div.ftz up or down, in the mode that is set. GPUs round to 24 bits before they flush: what lies below 2^-126 then is 0,
/// though it would be 2^-126 rounded to a subnormal number.
float divideFlushed(float a, float b) {
  const float x = flushed(a), y = flushed(b), q = flushed(x / y);
  const double least = std::fabs(double(y)) * 0x1p-126; // exact, as is the next product
  const bool isTiny = std::fabs(double(x)) <= least - least * 0x1p-24;
  return std::fabs(q) == 0x1p-126f && isTiny ? std::copysign(0.f, q) : q;
}
float reciprocalFlushed(float a) { return divideFlushed(1.f, a); }
float saturate32(float x) { return x > 0 ? (x < 1 ? x : 1.f) : 0.f; }
double saturate64(double x) { return x > 0 ? (x < 1 ? x : 1.0) : 0.0; }
uint32_t signOf32(uint32_t sign, uint32_t size) { return (sign & 0x80000000u) | (size & 0x7FFFFFFFu); }
uint64_t signOf64(uint64_t sign, uint64_t size) { return (sign & (1ull << 63)) | (size & ~(1ull << 63)); }
/// The upper word of 1 / x; the lower is 0.
double reciprocalHigh(double x) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(1 / x) & 0xFFFFFFFF00000000ull);
}

template <class F> uint8_t isFinite(F x) { return uint8_t(std::fabs(x) < std::numeric_limits<F>::infinity()); }
template <class F> uint8_t isInfinite(F x) { return uint8_t(std::fabs(x) == std::numeric_limits<F>::infinity()); }
template <class F> uint8_t isNumber(F x) { return uint8_t(x == x); }
template <class F> uint8_t isNan(F x) { return uint8_t(x != x); }
template <class F> uint8_t isSubnormal(F x) { return uint8_t(x != 0 && std::fabs(x) < std::numeric_limits<F>::min()); }
/// Zeros count as normal numbers.
template <class F> uint8_t isNormal(F x) { return uint8_t(isFinite(x) && !isSubnormal(x)); }

/// Two saturated values in one register.
template <class T, class S> uint32_t pack16(S a, S b) {
  return uint32_t(uint16_t(convertClamped<T>(a))) << 16 | uint16_t(convertClamped<T>(b));
}
template <class T, class S> uint32_t pack8(S a, S b, uint32_t c) {
  return c << 16 | uint32_t(uint8_t(convertClamped<T>(a))) << 8 | uint8_t(convertClamped<T>(b));
}

struct NamedLanes {
  const char* name;
  TwStripFn fn;
};
constexpr NamedLanes kTable[] = {
    {"ftz_f32", kLanes<flush32>},
    {"ftz_f16", kLanes<flush16>},
    {"div_ftz", kLanes<divideFlushed>},
    {"rcp_ftz", kLanes<reciprocalFlushed>},
    {"sat_f32", kLanes<saturate32>},
    {"sat_f64", kLanes<saturate64>},
    {"copysign32", kLanes<signOf32>},
    {"copysign64", kLanes<signOf64>},
    {"rcp64h", kLanes<reciprocalHigh>},
    {"finite_f32", kLanes<isFinite<float>>},
    {"finite_f64", kLanes<isFinite<double>>},
    {"infinite_f32", kLanes<isInfinite<float>>},
    {"infinite_f64", kLanes<isInfinite<double>>},
    {"number_f32", kLanes<isNumber<float>>},
    {"number_f64", kLanes<isNumber<double>>},
    {"notanumber_f32", kLanes<isNan<float>>},
    {"notanumber_f64", kLanes<isNan<double>>},
    {"normal_f32", kLanes<isNormal<float>>},
    {"normal_f64", kLanes<isNormal<double>>},
    {"subnormal_f32", kLanes<isSubnormal<float>>},
    {"subnormal_f64", kLanes<isSubnormal<double>>},
    {"pack_s8_s32", kLanes<pack8<int8_t, int32_t>>},
    {"pack_u8_s32", kLanes<pack8<uint8_t, int32_t>>},
    {"pack_s16_s32", kLanes<pack16<int16_t, int32_t>>},
    {"pack_u16_s32", kLanes<pack16<uint16_t, int32_t>>},
};

} // namespace

TwStripFn laneIntToInt(AsmInt from, AsmInt to, bool saturate) {
#define X(From, unused) saturate ? FromInt<From>::clamped[size_t(to)] : FromInt<From>::plain[size_t(to)]
  const TwStripFn all[kInts] = {TILETWIN_ASM_INTS(X, 0)};
#undef X
  return all[size_t(from)];
}
TwStripFn laneIntToFloat(AsmInt from, bool f64) {
#define X(From, unused) f64 ? kLanes<toFloat<double, From>> : kLanes<toFloat<float, From>>
  const TwStripFn all[kInts] = {TILETWIN_ASM_INTS(X, 0)};
#undef X
  return all[size_t(from)];
}
TwStripFn laneIntToOddF64(AsmInt from) {
#define X(From, unused) kLanes<toOddF64<From>>
  static constexpr TwStripFn all[kInts] = {TILETWIN_ASM_INTS(X, 0)};
#undef X
  return all[size_t(from)];
}
TwStripFn laneFloatToInt(bool f64, AsmInt to, AsmRound round) {
  using R = AsmRound;
  const size_t i = size_t(to);
  switch (round) {
  case R::Nearest: return f64 ? FromFloat<double, R::Nearest>::toInts[i] : FromFloat<float, R::Nearest>::toInts[i];
  case R::Down: return f64 ? FromFloat<double, R::Down>::toInts[i] : FromFloat<float, R::Down>::toInts[i];
  case R::Up: return f64 ? FromFloat<double, R::Up>::toInts[i] : FromFloat<float, R::Up>::toInts[i];
  default: return f64 ? FromFloat<double, R::Zero>::toInts[i] : FromFloat<float, R::Zero>::toInts[i];
  }
}
TwStripFn laneRound(bool f64, AsmRound round) {
  using R = AsmRound;
  switch (round) {
  case R::Nearest: return f64 ? kLanes<rounded<double, R::Nearest>> : kLanes<rounded<float, R::Nearest>>;
  case R::Down: return f64 ? kLanes<rounded<double, R::Down>> : kLanes<rounded<float, R::Down>>;
  case R::Up: return f64 ? kLanes<rounded<double, R::Up>> : kLanes<rounded<float, R::Up>>;
  default: return f64 ? kLanes<rounded<double, R::Zero>> : kLanes<rounded<float, R::Zero>>;
  }
}
TwStripFn laneTf32(AsmTf32 how) {
  return how == AsmTf32::Away ? kLanes<tf32Away> : how == AsmTf32::Even ? kLanes<tf32Even> : kLanes<tf32Zero>;
}
TwStripFn laneFloats(const char* name) {
  for (const NamedLanes& row : kTable)
    if (std::strcmp(row.name, name) == 0) return row.fn;
  return nullptr;
}

} // namespace tiletwin::interp
