// interp/asm/LanesFloat.cpp -- conversions with PTX's roundings, subnormals flushed to zero, saturation, questions
// about floats.
// Not here:  arithmetic and conversions to nearest, which are the tile module's.
#include "interp/asm/Lanes.h"
#include <array>
#include <bit>
#include <cmath>
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

/// What `make` gives for each of AsmInt.
template <class Make> constexpr auto forEachInt(Make make) {
  return std::array{make(Of<uint8_t>()), make(Of<uint16_t>()), make(Of<uint32_t>()), make(Of<uint64_t>()),
                    make(Of<int8_t>()),  make(Of<int16_t>()),  make(Of<int32_t>()),  make(Of<int64_t>())};
}
/// What `make` gives for each of AsmRound.
template <class Make> constexpr auto forEachRound(Make make) {
  using R = AsmRound;
  return std::array{make.template operator()<R::Nearest>(), make.template operator()<R::Down>(),
                    make.template operator()<R::Up>(), make.template operator()<R::Zero>()};
}
template <class From> constexpr auto kPlain = forEachInt([]<class To>(Of<To>) { return kLanes<convert<To, From>>; });
template <class From>
constexpr auto kClamped = forEachInt([]<class To>(Of<To>) { return kLanes<convertClamped<To, From>>; });
template <class F>
constexpr auto kToInts =
    forEachRound([]<AsmRound R>() { return forEachInt([]<class To>(Of<To>) { return kLanes<toInt<To, F, R>>; }); });
template <class F> constexpr auto kRounded = forEachRound([]<AsmRound R>() { return kLanes<rounded<F, R>>; });

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
template <class F> F saturate(F x) { return x > 0 ? (x < 1 ? x : F(1)) : F(0); }
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

constexpr LaneTypes<float, double> kFloats{"f32|f64"};
constexpr LaneRow kRows[] = {
    {"div", "rm.ftz.f32|rp.ftz.f32", {kStep<divideFlushed>}},
    {"rcp", "rm.ftz.f32|rp.ftz.f32", {kStep<reciprocalFlushed>}},
    {"rcp.approx.ftz", "f64", {kStep<reciprocalHigh>}},
    {"copysign", "f32|f64", {kStep<signOf32>, kStep<signOf64>}},
    family("testp.finite", kFloats, []<class F>(Of<F>) { return kStep<isFinite<F>>; }),
    family("testp.infinite", kFloats, []<class F>(Of<F>) { return kStep<isInfinite<F>>; }),
    family("testp.number", kFloats, []<class F>(Of<F>) { return kStep<isNumber<F>>; }),
    family("testp.notanumber", kFloats, []<class F>(Of<F>) { return kStep<isNan<F>>; }),
    family("testp.normal", kFloats, []<class F>(Of<F>) { return kStep<isNormal<F>>; }),
    family("testp.subnormal", kFloats, []<class F>(Of<F>) { return kStep<isSubnormal<F>>; }),
    {"cvt.pack.sat", "s8.s32.b32|u8.s32.b32", {kStep<pack8<int8_t, int32_t>>, kStep<pack8<uint8_t, int32_t>>}},
    {"cvt.pack.sat", "s16.s32|u16.s32", {kStep<pack16<int16_t, int32_t>>, kStep<pack16<uint16_t, int32_t>>}},
};

} // namespace

std::span<const LaneRow> laneFloatRows() { return kRows; }
TwStripFn laneIntToInt(AsmInt from, AsmInt to, bool saturate) {
  static constexpr auto kPlainFrom = forEachInt([]<class From>(Of<From>) { return kPlain<From>; });
  static constexpr auto kClampedFrom = forEachInt([]<class From>(Of<From>) { return kClamped<From>; });
  return (saturate ? kClampedFrom : kPlainFrom)[size_t(from)][size_t(to)];
}
TwStripFn laneIntToFloat(AsmInt from, bool f64) {
  static constexpr auto kToF32 = forEachInt([]<class From>(Of<From>) { return kLanes<toFloat<float, From>>; });
  static constexpr auto kToF64 = forEachInt([]<class From>(Of<From>) { return kLanes<toFloat<double, From>>; });
  return (f64 ? kToF64 : kToF32)[size_t(from)];
}
TwStripFn laneIntToOddF64(AsmInt from) {
  static constexpr auto kAll = forEachInt([]<class From>(Of<From>) { return kLanes<toOddF64<From>>; });
  return kAll[size_t(from)];
}
TwStripFn laneFloatToInt(bool f64, AsmInt to, AsmRound round) {
  return (f64 ? kToInts<double> : kToInts<float>)[size_t(round)][size_t(to)];
}
TwStripFn laneRound(bool f64, AsmRound round) { return (f64 ? kRounded<double> : kRounded<float>)[size_t(round)]; }
TwStripFn laneFlush(DType type) {
  return type == DType::F32 ? kLanes<flush32> : type == DType::F16 ? kLanes<flush16> : nullptr;
}
TwStripFn laneSaturate(DType type) { return type == DType::F32 ? kLanes<saturate<float>> : kLanes<saturate<double>>; }
TwStripFn laneTf32(AsmTf32 how) {
  return how == AsmTf32::Away ? kLanes<tf32Away> : how == AsmTf32::Even ? kLanes<tf32Even> : kLanes<tf32Zero>;
}

} // namespace tiletwin::interp
