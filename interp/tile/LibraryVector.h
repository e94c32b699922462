// interp/tile/LibraryVector.h -- libdevice functions of f32 that are worth vectors: tanh, sinh, cosh, expm1, pow,
// exp10, log10, tan. Computed in f64 with about 45 correct bits and rounded once. Lanes outside a function's simple
// range go through the C library.
#pragma once
#include "interp/tile/MathFunctions.h"

namespace tiletwin::tile {

using WideF = Vec<double, kLanesF>; ///< a packet's lanes in f64
using WideI = Vec<int64_t, kLanesF>;

/// e^r - 1 for |r| <= 0.35.
TILETWIN_INLINE WideF expm1Reduced(WideF r) {
  const WideF p = tree(r, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880,
                       1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600);
  return fusedMultiplyAdd(p, r * r, r);
}
inline constexpr double kShiftF64 = 0x1.8p52; ///< adding it rounds to an integer, left in the low bits
TILETWIN_INLINE WideF powerOf2(WideF shifted) { return (WideF)(((WideI)shifted + 1023) << 52); }

/// e^x - 1 with a relative error near 2^-50, for |x| < 700.
TILETWIN_INLINE WideF expm1Wide(WideF x) {
  const WideF shifted = fusedMultiplyAdd(x, WideF{} + 0x1.71547652b82fep+0, WideF{} + kShiftF64);
  const WideF k = shifted - kShiftF64;
  WideF r = fusedMultiplyAdd(k, WideF{} - 0x1.62e42fefa39efp-1, x);
  r = fusedMultiplyAdd(k, WideF{} - 0x1.abc9e3b39803fp-56, r);
  const WideF scale = powerOf2(shifted);
  return fusedMultiplyAdd(scale, expm1Reduced(r), scale - 1.0);
}
/// 2^t for |t| < 1000.
TILETWIN_INLINE WideF exp2Wide(WideF t) {
  const WideF shifted = t + kShiftF64;
  const WideF scale = powerOf2(shifted);
  return fusedMultiplyAdd(scale, expm1Reduced((t - (shifted - kShiftF64)) * 0x1.62e42fefa39efp-1), scale);
}
/// log2 of positive normal numbers.
TILETWIN_INLINE WideF log2Wide(PacketF x) {
  using I = Vec<int32_t, kLanesF>;
  const I e = ((I)x - 0x3F3504F3) >> 23;
  const WideF m = __builtin_convertvector((PacketF)((I)x - (e << 23)), WideF);
  const WideF f = (m - 1.0) / (m + 1.0), s = f * f;
  const WideF series =
      tree(s, 1.0, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19);
  return fusedMultiplyAdd(f * 0x1.71547652b82fep+1, series, __builtin_convertvector(e, WideF));
}
TILETWIN_INLINE auto isPositiveNormal(PacketF x) { return ((BitsOf<PacketF>)x - 0x00800000u) < 0x7F000000u; }
TILETWIN_INLINE PacketF narrowWide(WideF x) { return __builtin_convertvector(x, PacketF); }

struct Tanh {
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    using U = BitsOf<PacketF>;
    PacketF size = __builtin_elementwise_abs(x);
    size = size > 10.f ? allF(10.f) : size; // 1 from 9.02 on; a NaN stays
    const WideF e = expm1Wide(__builtin_convertvector(size, WideF) * 2.0);
    const PacketF t = narrowWide(e / (e + 2.0));
    return (PacketF)(((U)t & 0x7FFFFFFFu) | ((U)x & 0x80000000u));
  }
};

struct Expm1 {
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    PacketF c = x < -40.f ? allF(-40.f) : x; // -1 and infinity beyond; a NaN stays
    c = c > 90.f ? allF(90.f) : c;
    const PacketF r = narrowWide(expm1Wide(__builtin_convertvector(c, WideF)));
    return x == 0.f ? x : r;
  }
};
struct Sinh {
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    using U = BitsOf<PacketF>;
    PacketF size = __builtin_elementwise_abs(x);
    size = size > 90.f ? allF(90.f) : size;
    const WideF e = expm1Wide(__builtin_convertvector(size, WideF));
    const PacketF r = narrowWide((e + e / (e + 1.0)) * 0.5);
    return (PacketF)(((U)r & 0x7FFFFFFFu) | ((U)x & 0x80000000u));
  }
};
struct Cosh {
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    PacketF size = __builtin_elementwise_abs(x);
    size = size > 90.f ? allF(90.f) : size;
    const WideF e = expm1Wide(__builtin_convertvector(size, WideF)) + 1.0;
    return narrowWide((e + 1.0 / e) * 0.5);
  }
};

struct Exp10 {
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    PacketF c = x < -60.f ? allF(-60.f) : x;
    c = c > 60.f ? allF(60.f) : c;
    return narrowWide(exp2Wide(__builtin_convertvector(c, WideF) * 0x1.a934f0979a371p+1));
  }
};

struct Log10 {
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    if (anyLane(~isPositiveNormal(x))) [[unlikely]]
      return mapLanes([](float v) { return float(std::log10(double(v))); }, x);
    return narrowWide(log2Wide(x) * 0x1.34413509f79ffp-2);
  }
};

struct Pow {
  static TILETWIN_INLINE PacketF apply(PacketF x, PacketF y) {
    const WideF t = log2Wide(x) * __builtin_convertvector(y, WideF);
    using I = Vec<int32_t, kLanesF>;
    const I simple =
        (I)isPositiveNormal(x) & __builtin_convertvector(__builtin_elementwise_abs(t) < 1000.0, I); // false for NaN
    if (anyLane(~simple)) [[unlikely]]
      return mapLanes([](float a, float b) { return float(std::pow(double(a), double(b))); }, x, y);
    return narrowWide(exp2Wide(t));
  }
};

struct Tan {
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    if (anyLane(~(__builtin_elementwise_abs(x) < 0x1p30f))) [[unlikely]]
      return mapLanes([](float v) { return float(std::tan(double(v))); }, x);
    const WideF wide = __builtin_convertvector(x, WideF);
    const WideF shifted = fusedMultiplyAdd(wide, WideF{} + 0x1.45f306dc9c883p-1, WideF{} + kShiftF64);
    const WideF k = shifted - kShiftF64;
    WideF r = fusedMultiplyAdd(k, WideF{} - 0x1.921fb54442d18p+0, wide);
    r = fusedMultiplyAdd(k, WideF{} - 0x1.1a62633145c07p-54, r);
    const WideF s = r * r;
    const WideF sine = fusedMultiplyAdd(
        tree(s, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800), s * r, r);
    const WideF cosine = fusedMultiplyAdd(
        tree(s, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200.0), s,
        WideF{} + 1.0);
    const auto odd = ((WideI)shifted & 1) != 0;
    const PacketF result = narrowWide(odd ? -cosine / sine : sine / cosine);
    return x == 0.f ? x : result;
  }
};

} // namespace tiletwin::tile
