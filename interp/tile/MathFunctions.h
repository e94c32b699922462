// interp/tile/MathFunctions.h -- elementary functions over packets: f32 vectorised, f64 through the C library lane by
// lane. f32 results are within 1 ULP of the correctly rounded value for every input (subnormals, infinities, NaN and
// signed zeros included); tests/tile/MathTest.cpp measures it. Polynomials are Chebyshev fits, coefficients of the
// highest power first.
#pragma once
#include "interp/tile/Functors.h"
#include <array>

namespace tiletwin::tile {

/// c0 x^n + c1 x^(n-1) + ... by Horner's rule with fused multiply-adds.
template <class V, class... C> TILETWIN_INLINE V horner(V x, LaneOf<V> first, C... rest) {
  V r = V{} + first;
  ((r = fusedMultiplyAdd(r, x, V(V{} + LaneOf<V>(rest)))), ...);
  return r;
}
/// The same, in a tree: shorter chains. Coefficients of the lowest power first.
template <class V, size_t N> TILETWIN_INLINE V polynomialTree(V x, std::array<V, N> c) {
  if constexpr (N == 1) {
    return c[0];
  } else {
    std::array<V, (N + 1) / 2> next;
    for (size_t i = 0; i < N / 2; ++i) next[i] = fusedMultiplyAdd(c[2 * i + 1], x, c[2 * i]);
    if constexpr (N % 2) next[N / 2] = c[N - 1];
    return polynomialTree<V, (N + 1) / 2>(x * x, next);
  }
}
/// c0 + c1 x + c2 x^2 + ...
template <class V, class... C> TILETWIN_INLINE V tree(V x, C... coefficients) {
  return polynomialTree<V, sizeof...(C)>(x, {V(V{} + LaneOf<V>(coefficients))...});
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
/// The same for results that are normal numbers, where `shifted` is k + 1.5 * 2^23: k is added to the exponent.
template <class V> TILETWIN_INLINE V scaleNormal(V p, V shifted) {
  using I = Vec<int32_t, kLanesOf<V>>;
  return (V)((I)p + ((I)shifted << 23));
}
inline constexpr float kShift = 0x1.8p23f; ///< adding it rounds to an integer, left in the low bits

struct Exp {
  /// k = shifted - kShift is x / ln 2 rounded; gives e^(x - k ln 2).
  template <class V> static TILETWIN_INLINE V reduced(V x, V k) {
    const auto all = [](float c) __attribute__((always_inline)) { return V{} + c; };
    V r = fusedMultiplyAdd(k, all(-0x1.62e4p-1f), x); // few bits: the product is exact
    r = fusedMultiplyAdd(k, all(-0x1.7f7d1cp-20f), r);
    const V square = r * r;
    const V high = fusedMultiplyAdd(square, all(0.00139262508314976117f),
                                    fusedMultiplyAdd(r, all(0.0083632328836826182f), all(0.0416665542129841503f)));
    const V p = fusedMultiplyAdd(high, square, fusedMultiplyAdd(r, all(0.166665766661199283f), all(0.5f)));
    return fusedMultiplyAdd(p, square, r) + 1.f;
  }
  /// For |x| < 87: neither the result nor a step leaves the normal numbers.
  template <class V> static TILETWIN_INLINE V inRange(V x) {
    const V shifted = fusedMultiplyAdd(x, V(V{} + 0x1.715476p+0f), V(V{} + kShift));
    return scaleNormal(reduced(x, V(shifted - kShift)), shifted);
  }
  /// Any number of f32 lanes: packets in range go together, which keeps several chains in flight.
  template <class V> static TILETWIN_INLINE V apply(V x) {
    if (allSmaller(x, 87.f)) [[likely]]
      return inRange(x);
    return mapPackets([](PacketF p) __attribute__((always_inline)) { return anyRange(p); }, x);
  }
  static TILETWIN_INLINE PacketF anyRange(PacketF x) {
    if (!anyLane(~(x < -104.5f))) // far below the smallest subnormal: masked-off lanes of a softmax
      return PacketF{};
    PacketF c = allF(-104.5f) > x ? allF(-104.5f) : x; // a NaN stays
    c = allF(89.f) < c ? allF(89.f) : c;
    const PacketF k = fmaF(c, allF(0x1.715476p+0f), allF(kShift)) - kShift;
    return scaleByPowerOf2(reduced(c, k), k);
  }
  template <class V>
    requires std::is_same_v<LaneOf<V>, double>
  static TILETWIN_INLINE V apply(V x) {
    return mapLanes([](double v) { return std::exp(v); }, x);
  }
};

struct Exp2 {
  static TILETWIN_INLINE PacketF reduced(PacketF r) {
    const PacketF p = tree(r, 0.24022650760957307f, 0.0555035689862707292f, 0.0096180823706166601f,
                           0.00133909782481238669f, 0.000154532624093206731f);
    return fmaF(r, allF(0.693147188071176234f), p * (r * r)) + 1.f;
  }
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    if (allSmaller(x, 126.f)) [[likely]] {
      const PacketF shifted = x + kShift;
      return scaleNormal(reduced(x - (shifted - kShift)), shifted);
    }
    PacketF c = allF(-151.f) > x ? allF(-151.f) : x;
    c = allF(129.f) < c ? allF(129.f) : c;
    const PacketF k = (c + kShift) - kShift;
    return scaleByPowerOf2(reduced(c - k), k);
  }
  static TILETWIN_INLINE PacketD apply(PacketD x) {
    return mapLanes([](double v) { return std::exp2(v); }, x);
  }
};

/// x = (1 + f) 2^e with 1 + f in [sqrt(1/2), sqrt(2)); tail = log(1 + f) - f. For positive finite x.
struct LogParts {
  PacketF f, tail, e;
};
template <bool Subnormals> TILETWIN_INLINE LogParts logParts(PacketF x) {
  using I = Vec<int32_t, kLanesF>;
  const auto subnormal = x < 0x1p-126f;
  const PacketF scaled = Subnormals ? (subnormal ? x * 0x1p25f : x) : x;
  const I e = ((I)scaled - 0x3F3504F3) >> 23;
  const PacketF f = (PacketF)((I)scaled - (e << 23)) - 1.f;
  PacketF exponent = __builtin_convertvector(e, PacketF);
  if constexpr (Subnormals) exponent = subnormal ? exponent - 25.f : exponent;
  const PacketF square = f * f;
  const PacketF p = tree(f, 0.333333311218801505f, -0.249999966269394809f, 0.20000730503852239f, -0.166678509728517664f,
                         0.14248551264361469f, -0.124240377176501978f, 0.116890711374578692f, -0.114945466128902167f,
                         0.0698070195866497051f);
  return {f, fmaF(square, allF(-0.5f), square * f * p), exponent};
}
/// Combine(LogParts) for positive normal numbers; the rest has a slower way: log(+-0) = -inf, log(inf) = inf, log of a
/// negative or NaN = NaN.
template <class Combine> TILETWIN_INLINE PacketF logarithm(PacketF x, Combine combine) {
  using U = BitsOf<PacketF>;
  if (!anyLane(((U)x - 0x00800000u) >= 0x7F000000u)) [[likely]]
    return combine(logParts<false>(x));
  PacketF r = combine(logParts<true>(x));
  r = x == __builtin_inff() ? x : r;
  r = x == 0.f ? allF(-__builtin_inff()) : r;
  return x >= 0.f ? r : allF(__builtin_nanf(""));
}

struct Log {
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    return logarithm(x, [](LogParts s) __attribute__((always_inline)) {
      const PacketF low = fmaF(s.e, allF(-0x1.05c61p-29f), s.tail); // ln 2 = high + low
      return fmaF(s.e, allF(0x1.62e43p-1f), s.f + low);
    });
  }
  static TILETWIN_INLINE PacketD apply(PacketD x) {
    return mapLanes([](double v) { return std::log(v); }, x);
  }
};

struct Log2 {
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    return logarithm(x, [](LogParts s) __attribute__((always_inline)) {
      const PacketF high = allF(0x1.715476p+0f), low = allF(0x1.4ae0cp-26f); // 1 / ln 2
      return s.e + fmaF(s.f, high, fmaF(s.f, low, s.tail * high));
    });
  }
  static TILETWIN_INLINE PacketD apply(PacketD x) {
    return mapLanes([](double v) { return std::log2(v); }, x);
  }
};

/// sin(x + quadrant * pi/2) in f64: reduction by two parts of pi/2, exact enough to 2^40; beyond, and for infinities,
/// the C library.
template <int Quadrant> TILETWIN_INLINE PacketF sinQuadrant(PacketF x) {
  using D = Vec<double, kLanesF>;
  using I = Vec<int64_t, kLanesF>;
  const D wide = __builtin_convertvector(x, D);
  const D magic = D{} + 0x1.8p52;
  const D shifted = fusedMultiplyAdd(wide, D{} + 0x1.45f306dc9c883p-1, magic);
  const D k = shifted - magic;
  D r = fusedMultiplyAdd(k, D{} - 0x1.921fb54442d18p+0, wide);
  r = fusedMultiplyAdd(k, D{} - 0x1.1a62633145c07p-54, r);
  const D square = r * r;
  const D s = fusedMultiplyAdd(horner(square, -2.48031833865629195e-8, 2.75563643160896221e-6, -0.000198412668285873801,
                                      0.00833333333098786802, -0.166666666666637443),
                               square * r, r);
  const D c = fusedMultiplyAdd(
      horner(square, -2.72984076527951747e-7, 0.0000248005806013546424, -0.00138888876352279749, 0.0416666666642261335),
      square * square, 1.0 - 0.5 * square);
  const I quadrant = (I)shifted + Quadrant;
  D y = (quadrant & 1) != 0 ? c : s;
  y = (D)((I)y ^ ((quadrant & 2) << 62));
  PacketF result = __builtin_convertvector(y, PacketF);
  const auto inRange = __builtin_elementwise_abs(x) < 0x1p40f;
  if (anyLane(~inRange)) [[unlikely]] {
    for (int i = 0; i < kLanesF; ++i)
      if (!inRange[i]) result[i] = float(Quadrant ? std::cos(double(x[i])) : std::sin(double(x[i])));
  }
  return result;
}
struct Sin {
  static TILETWIN_INLINE PacketF apply(PacketF x) {
    const PacketF r = sinQuadrant<0>(x);
    return x == 0.f ? x : r;
  }
  static TILETWIN_INLINE PacketD apply(PacketD x) {
    return mapLanes([](double v) { return std::sin(v); }, x);
  }
};
struct Cos {
  static TILETWIN_INLINE PacketF apply(PacketF x) { return sinQuadrant<1>(x); }
  static TILETWIN_INLINE PacketD apply(PacketD x) {
    return mapLanes([](double v) { return std::cos(v); }, x);
  }
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
    const PacketF inner =
        fmaF(tree(square, 0.128379165848350946f, -0.37612626666720331f, 0.112835947151602177f, -0.0268542120106264124f,
                  0.00518908742343397399f, -0.000801686428716586953f, 0.0000787587506268548834f),
             x, x);
    t = t > 4.f ? allF(4.f) : t;
    const PacketF q =
        tree(t, -0.000320441531277266443f, 1.13023761637467123f, 0.631814516659384178f, 0.110094480827648994f,
             -0.0264310176033692273f, 0.00476357524914934924f, -0.000597743471960611076f, 0.0000461779127904000422f,
             -1.64356965360383266e-6f); // -log(erfc(t)) on [0.92, 4]
    const PacketF outer = 1.f - Exp::inRange(-q);
    using U = BitsOf<PacketF>;
    const PacketF signedOuter = (PacketF)(((U)outer & 0x7FFFFFFFu) | ((U)x & 0x80000000u));
    return __builtin_elementwise_abs(x) >= 0.96f ? signedOuter : inner; // a NaN is in neither and stays one in `inner`
  }
  static TILETWIN_INLINE PacketD apply(PacketD x) {
    return mapLanes([](double v) { return std::erf(v); }, x);
  }
};

} // namespace tiletwin::tile
