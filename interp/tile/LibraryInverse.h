// interp/tile/LibraryInverse.h -- libdevice's f32 functions that undo others, as vectors: log1p, atan, asin, acos,
// atan2, erfinv; and erfc. Computed in f64 with 35 correct bits or more and rounded once. Polynomials are Chebyshev
// fits, lowest power first.
// Not here:  sinh, tanh, pow, ... (LibraryVector.h), functions that go through the C library (LibraryFloat.cpp).
#pragma once
#include "interp/tile/LibrarySpecial.h"
#include "interp/tile/LibraryVector.h"

namespace tiletwin::tile {

TILETWIN_INLINE WideF widened(PacketF x) { return __builtin_convertvector(x, WideF); }
TILETWIN_INLINE WideF allD(double x) { return WideF{} + x; }
/// y with the sign of x.
TILETWIN_INLINE PacketF signedAs(PacketF y, PacketF x) {
  using U = BitsOf<PacketF>;
  return (PacketF)(((U)y & 0x7FFFFFFFu) | ((U)x & 0x80000000u));
}
/// e^x for -740 < x < 700, with a relative error near 2^-50.
TILETWIN_INLINE WideF expWide(WideF x) {
  const WideF shifted = fusedMultiplyAdd(x, allD(0x1.71547652b82fep+0), allD(kShiftF64));
  const WideF k = shifted - kShiftF64;
  WideF r = fusedMultiplyAdd(k, allD(-0x1.62e42fefa39efp-1), x);
  r = fusedMultiplyAdd(k, allD(-0x1.abc9e3b39803fp-56), r);
  const WideF scale = powerOf2(shifted);
  return fusedMultiplyAdd(scale, expm1Reduced(r), scale);
}
/// log(v) of positive normal f64; `small` is v - 1 where that is at most 1/4, known better than v gives it.
TILETWIN_INLINE WideF logWide(WideF v, WideF small) {
  const WideI e = ((WideI)v - 0x3FE6A09E667F3BCD) >> 52; // v = m 2^e with m in [sqrt(1/2), sqrt(2))
  const WideF m = (WideF)((WideI)v - (e << 52));
  const auto isSmall = __builtin_elementwise_abs(small) <= 0.25;
  const WideF above = isSmall ? small : m - 1.0;
  const WideF f = above / (above + 2.0), s = f * f;
  const WideF series =
      tree(s, 1.0, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19);
  const WideF exponent = isSmall ? WideF{} : __builtin_convertvector(e, WideF);
  return fusedMultiplyAdd(exponent, allD(0x1.62e42fefa39efp-1), 2.0 * f * series);
}

struct Log1p {
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    if (anyLane(~((x > -1.f) & (x < __builtin_inff())))) [[unlikely]]
      return mapLanes([](float v) { return float(std::log1p(double(v))); }, x);
    const WideF wide = widened(x);
    const PacketF r = narrowWide(logWide(wide + 1.0, wide));
    return x == 0.f ? x : r;
  }
};

/// log(1 + z) of finite z > -1.
TILETWIN_INLINE PacketF log1pNarrow(WideF z) { return narrowWide(logWide(z + 1.0, z)); }
struct Asinh {
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    const PacketF size = __builtin_elementwise_abs(x);
    if (anyLane(~(size < __builtin_inff()))) [[unlikely]]
      return mapLanes([](float v) { return float(std::asinh(double(v))); }, x);
    const WideF t = widened(size), square = t * t;
    return signedAs(log1pNarrow(t + square / (1.0 + __builtin_elementwise_sqrt(1.0 + square))), x);
  }
};
struct Acosh {
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    if (anyLane(~((x >= 1.f) & (x < __builtin_inff())))) [[unlikely]]
      return mapLanes([](float v) { return float(std::acosh(double(v))); }, x);
    const WideF t = widened(x) - 1.0;
    return log1pNarrow(t + __builtin_elementwise_sqrt(t * (t + 2.0)));
  }
};
struct Atanh {
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    const PacketF size = __builtin_elementwise_abs(x);
    if (anyLane(~(size < 1.f))) [[unlikely]]
      return mapLanes([](float v) { return float(std::atanh(double(v))); }, x);
    const WideF t = widened(size), z = 2.0 * t / (1.0 - t);
    return signedAs(narrowWide(0.5 * logWide(z + 1.0, z)), x);
  }
};

/// atan(t) for t >= 0, infinity too.
TILETWIN_INLINE WideF atanWide(WideF t) {
  const auto large = t > 2.414213562373095, middle = t > 0.41421356237309503;
  const WideF top = large ? allD(-1.0) : middle ? t - 1.0 : t;
  const WideF bottom = large ? t : middle ? t + 1.0 : allD(1.0);
  const WideF z = top / bottom, s = z * z;
  const WideF p = tree(s, 1.0, -0.3333333333333312, 0.19999999999940807, -0.142857142792419, 0.11111110744504495,
                       -0.09090896797060963, 0.07692045115329452, -0.0666294933513016, 0.058468600441315986,
                       -0.05035019199400293, 0.037963116386953384, -0.017803024570372427);
  const WideF base = large ? allD(0x1.921fb54442d18p+0) : middle ? allD(0x1.921fb54442d18p-1) : WideF{};
  return fusedMultiplyAdd(z, p, base);
}
struct Atan {
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    return signedAs(narrowWide(atanWide(widened(__builtin_elementwise_abs(x)))), x);
  }
};
struct Asin {
  static TILETWIN_INLINE PacketF apply(PacketF x) { // beyond 1 the root is of a negative number
    const WideF size = widened(__builtin_elementwise_abs(x));
    const WideF root = __builtin_elementwise_sqrt((1.0 - size) * (1.0 + size));
    const PacketF r = signedAs(narrowWide(atanWide(size / root)), x);
    return __builtin_elementwise_abs(x) <= 1.f ? r : allF(__builtin_nanf(""));
  }
};
struct Acos {
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    const WideF wide = widened(x);
    const PacketF r = narrowWide(2.0 * atanWide(__builtin_elementwise_sqrt((1.0 - wide) / (1.0 + wide))));
    return __builtin_elementwise_abs(x) <= 1.f ? r : allF(__builtin_nanf(""));
  }
};
struct Atan2 {
  static TILETWIN_INLINE PacketF apply(PacketF y, PacketF x) {
    const WideF a = widened(__builtin_elementwise_abs(y)), b = widened(__builtin_elementwise_abs(x));
    const WideF ratio = a / b;
    if (anyLane(~(ratio == ratio))) [[unlikely]] // NaN, 0 / 0, infinity / infinity
      return mapLanes([](float v, float w) { return float(std::atan2(double(v), double(w))); }, y, x);
    const WideF angle = atanWide(ratio);
    const auto left = (WideI)widened(x) < 0;
    return signedAs(narrowWide(left ? (0x1.921fb54442d18p+1 - angle) + 0x1.1a62633145c07p-53 : angle), y);
  }
};

struct Erfc {
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    PacketF size = __builtin_elementwise_abs(x);
    size = size > 10.2f ? allF(10.2f) : size; // 0 from there on; a NaN stays
    const WideF t = widened(size), u = (t - 4.0) / (t + 4.0);
    const WideF p = tree(u, 1.2329951186255501, -0.13962111684065384, 0.015379652103716734, 0.06809705426358806,
                         -0.10103906610586676, 0.09373283471117909, -0.06633036424075063, 0.03716752047073885,
                         -0.016197750249049583, 0.005031918828435408, -0.000757698811181119, -0.00019894581430467186,
                         0.00015057055456787417, -2.537271205006811e-05, -1.194373864557461e-05, 6.722394649190598e-06,
                         2.0971632591764863e-06);
    const WideF right = expWide(-(t * t)) * p / fusedMultiplyAdd(t, allD(2.0), allD(1.0));
    return narrowWide((WideI)widened(x) < 0 ? 2.0 - right : right);
  }
};

struct Erfinv {
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    if (anyLane(~(__builtin_elementwise_abs(x) < 1.f))) [[unlikely]]
      return mapLanes([](float v) { return float(inverseErf(double(v))); }, x);
    const WideF wide = widened(x), square = wide * wide;
    const WideF w = -logWide(1.0 - square, -square), t = w - 3.125, s = __builtin_elementwise_sqrt(w) - 3.25;
    const WideF central =
        tree(t, 1.6536545626767025, 0.24015818242482131, -0.006033670787319821, -0.0007407025241132677,
             0.00018673402477004407, -1.388254485259547e-05, -1.3653152293455767e-06, 4.234961758091742e-07,
             -2.913493914749127e-08, -4.119487271395137e-09, 1.0662924134944543e-09, -5.271322666517594e-11,
             -1.5016404222449506e-11, 2.4723511501125664e-12, 7.701903182266697e-14, -3.236381550088586e-14);
    const WideF tail =
        tree(s, 3.0838856104956696, 1.0052589677668546, 0.005370914023788903, -0.003751212206271006,
             0.0024914557493676557, -0.0016882219965590301, 0.0009531536509286962, -0.00035537054743007266,
             2.469366957860317e-05, 6.930124004263307e-05, -4.90424935106227e-05, 1.0950187935712953e-05,
             5.288816769072204e-06, -3.076289148068497e-06);
    return narrowWide(wide * (w < 6.25 ? central : tail));
  }
};

} // namespace tiletwin::tile
