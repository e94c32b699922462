// interp/tile/MathFunctions.h -- elementary functions over packets: f32 vectorised, f64 through the C library lane by lane.
// f32 results are within 1 ULP of the correctly rounded value for every input (subnormals, infinities, NaN and signed zeros included);
// tests/tile/MathTest.cpp measures it. Polynomials are Chebyshev fits, coefficients of the highest power first.
#pragma once
#include "interp/tile/Functors.h"

namespace tiletwin::tile {

/// c0 x^n + c1 x^(n-1) + ... by Horner's rule with fused multiply-adds.
template <class V, class... C> TILETWIN_INLINE V horner(V x, LaneOf<V> first, C... rest) {
  V r = V{} + first;
  ((r = fusedMultiplyAdd(r, x, V(V{} + LaneOf<V>(rest)))), ...);
  return r;
}
TILETWIN_INLINE PacketF fmaF(PacketF a, PacketF b, PacketF c) { return fusedMultiplyAdd(a, b, c); }
TILETWIN_INLINE PacketF allF(float x) { return ei::pset1<PacketF>(x); }

/// p * 2^k for p in [0.5, 2] and integral k in [-160, 130]; rounds once (subnormal results) and overflows to infinity.
TILETWIN_INLINE PacketF scaleByPowerOf2(PacketF p, PacketF k) {
#ifdef __AVX512F__
  return _mm512_scalef_ps(p, k);
#else
  using I = Vec<int32_t, kLanesF>;
  const I whole = (I)_mm256_cvtps_epi32(k), half = whole >> 1;
  const PacketF first = (PacketF)((I)p + (half << 23)); // exponents stay far from the ends
  return first * (PacketF)((whole - half + 127) << 23);
#endif
}

/// e^r for |r| <= ln2/2, times 2^k.
TILETWIN_INLINE PacketF expReduced(PacketF r, PacketF k) {
  PacketF p = horner(r, 0.00139262508314976117f, 0.0083632328836826182f, 0.0416665542129841503f, 0.166665766661199283f, 0.5f);
  p = fmaF(p, r * r, r) + allF(1.f);
  return scaleByPowerOf2(p, k);
}

struct Exp {
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    const PacketF low = allF(-104.5f), high = allF(89.f), magic = allF(0x1.8p23f);
    PacketF c = low > x ? low : x; // a NaN stays
    c = high < c ? high : c;
    const PacketF k = fmaF(c, allF(0x1.715476p+0f), magic) - magic;
    PacketF r = fmaF(k, allF(-0x1.62e4p-1f), c);   // few bits: the product is exact
    r = fmaF(k, allF(-0x1.7f7d1cp-20f), r);
    return expReduced(r, k);
  }
  static TILETWIN_INLINE PacketD apply(PacketD x) { return mapLanes([](double v) { return std::exp(v); }, x); }
};

struct Exp2 {
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    const PacketF low = allF(-151.f), high = allF(129.f), magic = allF(0x1.8p23f);
    PacketF c = low > x ? low : x;
    c = high < c ? high : c;
    const PacketF k = (c + magic) - magic, r = c - k;
    const PacketF p = horner(r, 0.000154532624093206731f, 0.00133909782481238669f, 0.0096180823706166601f, 0.0555035689862707292f,
                             0.24022650760957307f, 0.693147188071176234f);
    return scaleByPowerOf2(fmaF(p, r, allF(1.f)), k);
  }
  static TILETWIN_INLINE PacketD apply(PacketD x) { return mapLanes([](double v) { return std::exp2(v); }, x); }
};

/// x = (1 + f) 2^e with 1 + f in [sqrt(1/2), sqrt(2)); tail = log(1 + f) - f. For positive finite x.
struct LogParts { PacketF f, tail, e; };
TILETWIN_INLINE LogParts logParts(PacketF x) {
  using I = Vec<int32_t, kLanesF>;
  const auto subnormal = x < 0x1p-126f;
  const PacketF scaled = subnormal ? x * 0x1p25f : x;
  const I e = ((I)scaled - 0x3F3504F3) >> 23;
  const PacketF f = (PacketF)((I)scaled - (e << 23)) - 1.f;
  PacketF exponent = __builtin_convertvector(e, PacketF);
  exponent = subnormal ? exponent - 25.f : exponent;
  const PacketF square = f * f;
  const PacketF p = horner(f, 0.0698070195866497051f, -0.114945466128902167f, 0.116890711374578692f, -0.124240377176501978f,
                           0.14248551264361469f, -0.166678509728517664f, 0.20000730503852239f, -0.249999966269394809f,
                           0.333333311218801505f);
  return {f, fmaF(square, allF(-0.5f), square * f * p), exponent};
}
/// What log and log2 share: log(+-0) = -inf, log(inf) = inf, log of a negative or NaN = NaN.
TILETWIN_INLINE PacketF logSpecial(PacketF x, PacketF r) {
  r = x == __builtin_inff() ? x : r;
  r = x == 0.f ? allF(-__builtin_inff()) : r;
  return x >= 0.f ? r : allF(__builtin_nanf(""));
}

struct Log {
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    const LogParts s = logParts(x);
    const PacketF low = fmaF(s.e, allF(-0x1.05c61p-29f), s.tail); // ln 2 = high + low
    return logSpecial(x, fmaF(s.e, allF(0x1.62e43p-1f), s.f + low));
  }
  static TILETWIN_INLINE PacketD apply(PacketD x) { return mapLanes([](double v) { return std::log(v); }, x); }
};

struct Log2 {
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    const LogParts s = logParts(x);
    const PacketF high = allF(0x1.715476p+0f), low = allF(0x1.4ae0cp-26f); // 1 / ln 2
    const PacketF fraction = fmaF(s.f, high, fmaF(s.f, low, s.tail * high));
    return logSpecial(x, s.e + fraction);
  }
  static TILETWIN_INLINE PacketD apply(PacketD x) { return mapLanes([](double v) { return std::log2(v); }, x); }
};

/// sin(x + quadrant * pi/2) in f64: reduction by two parts of pi/2, exact enough to 2^40; beyond, and for infinities, the C library.
template <int Quadrant> TILETWIN_INLINE PacketF sinQuadrant(PacketF x) {
  using D = Vec<double, kLanesF>;
  using I = Vec<int64_t, kLanesF>;
  if (anyLane(~(__builtin_elementwise_abs(x) < 0x1p40f)))
    return mapLanes([](float v) { return float(Quadrant ? std::cos(double(v)) : std::sin(double(v))); }, x);
  const D wide = __builtin_convertvector(x, D);
  const D magic = D{} + 0x1.8p52;
  const D shifted = fusedMultiplyAdd(wide, D{} + 0x1.45f306dc9c883p-1, magic);
  const D k = shifted - magic;
  D r = fusedMultiplyAdd(k, D{} - 0x1.921fb54442d18p+0, wide);
  r = fusedMultiplyAdd(k, D{} - 0x1.1a62633145c07p-54, r);
  const D square = r * r;
  const D s = fusedMultiplyAdd(horner(square, -2.48031833865629195e-8, 2.75563643160896221e-6, -0.000198412668285873801,
                                               0.00833333333098786802, -0.166666666666637443), square * r, r);
  const D c = fusedMultiplyAdd(horner(square, -2.72984076527951747e-7, 0.0000248005806013546424, -0.00138888876352279749,
                                               0.0416666666642261335), square * square, 1.0 - 0.5 * square);
  const I quadrant = (I)shifted + Quadrant;
  D y = (quadrant & 1) != 0 ? c : s;
  y = (D)((I)y ^ ((quadrant & 2) << 62));
  return __builtin_convertvector(y, PacketF);
}
struct Sin {
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    const PacketF r = sinQuadrant<0>(x);
    return x == 0.f ? x : r;
  }
  static TILETWIN_INLINE PacketD apply(PacketD x) { return mapLanes([](double v) { return std::sin(v); }, x); }
};
struct Cos {
  static TILETWIN_INLINE PacketF apply(PacketF x) { return sinQuadrant<1>(x); }
  static TILETWIN_INLINE PacketD apply(PacketD x) { return mapLanes([](double v) { return std::cos(v); }, x); }
};

/// One correction step on 1 / sqrt(x): its residual x y^2 - 1 from an exact product.
struct Rsqrt {
  template <class P> static TILETWIN_INLINE P apply(P x) {
    const P y = ei::pdiv(ei::pset1<P>(1), ei::psqrt(x));
    const P high = x * y, low = fusedMultiplyAdd(x, y, -high);
    const P residual = fusedMultiplyAdd(low, y, fusedMultiplyAdd(high, y, ei::pset1<P>(-1)));
    const P better = fusedMultiplyAdd(y * ei::pset1<P>(LaneOf<P>(-0.5)), residual, y);
    return better == better ? better : y; // 0 and infinity
  }
};

struct Erf {
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    PacketF t = __builtin_elementwise_abs(x);
    const PacketF square = x * x;
    const PacketF inner = fmaF(horner(square, 0.0000787587506268548834f, -0.000801686428716586953f, 0.00518908742343397399f,
                                      -0.0268542120106264124f, 0.112835947151602177f, -0.37612626666720331f, 0.128379165848350946f),
                               x, x);
    t = t > 4.f ? allF(4.f) : t;
    const PacketF q = horner(t, -1.64356965360383266e-6f, 0.0000461779127904000422f, -0.000597743471960611076f, 0.00476357524914934924f,
                             -0.0264310176033692273f, 0.110094480827648994f, 0.631814516659384178f, 1.13023761637467123f,
                             -0.000320441531277266443f); // -log(erfc(t)) on [0.92, 4]
    const PacketF outer = allF(1.f) - Exp::apply(-q);
    using U = BitsOf<PacketF>;
    const PacketF signedOuter = (PacketF)(((U)outer & 0x7FFFFFFFu) | ((U)x & 0x80000000u));
    return __builtin_elementwise_abs(x) < 0.96f ? inner : signedOuter;
  }
  static TILETWIN_INLINE PacketD apply(PacketD x) { return mapLanes([](double v) { return std::erf(v); }, x); }
};

} // namespace tiletwin::tile
