// interp/tile/Functors.h -- what the float operations compute, once per operation, over Eigen packets of f32 or f64.
// Here:      arithmetic, extrema, rounding to integers, remainder, clamp, comparisons.
// Not here:  exp, log, sin, ... (MathFunctions.h). Each functor is the name of the IR operation; apply(P...) works on
//            any packet type, comparisons give lane masks.
#pragma once
#include "interp/tile/Vectors.h"
#include <cmath>

namespace tiletwin::tile {

namespace ei = Eigen::internal;

/// Operations that are one expression of vectors (or packets) a and b.
#define TILETWIN_UNARY(Name, ...)                                                                                      \
  struct Name {                                                                                                        \
    template <class V> static TILETWIN_INLINE auto apply(V a) { return __VA_ARGS__; }                                  \
  }
#define TILETWIN_BINARY(Name, ...)                                                                                     \
  struct Name {                                                                                                        \
    template <class V> static TILETWIN_INLINE auto apply(V a, V b) { return __VA_ARGS__; }                             \
  }

/// Runs a packet functor on vectors of any number of lanes.
template <class Op> struct OnPackets {
  template <class... V> static TILETWIN_INLINE auto apply(V... v) {
    return mapPackets([](auto... p) __attribute__((always_inline)) { return Op::apply(p...); }, v...);
  }
};

/// A scalar function on every lane.
template <class V, class F, class... Vs> TILETWIN_INLINE V mapLanes(F f, V first, Vs... rest) {
  for (int i = 0; i < kLanesOf<V>; ++i) first[i] = f(first[i], rest[i]...);
  return first;
}

TILETWIN_BINARY(AddF, ei::padd(a, b));
TILETWIN_BINARY(SubF, ei::psub(a, b));
TILETWIN_BINARY(MulF, ei::pmul(a, b));
TILETWIN_BINARY(DivF, ei::pdiv(a, b));
/// Flips the sign bit. Eigen's pnegate subtracts from zero, which would make +0 of -(+0).
struct NegF {
  template <class P> static TILETWIN_INLINE P apply(P a) {
    using T = typename ei::unpacket_traits<P>::type;
    return ei::pxor(a, ei::pset1<P>(T(-0.0)));
  }
};
TILETWIN_UNARY(AbsF, ei::pabs(a));
TILETWIN_UNARY(Sqrt, ei::psqrt(a));
TILETWIN_UNARY(Floor, ei::pfloor(a));
TILETWIN_UNARY(Ceil, ei::pceil(a));
struct Fma {
  template <class P> static TILETWIN_INLINE P apply(P a, P b, P c) { return fusedMultiplyAdd(a, b, c); }
};

/// max/min of numbers with -0 < +0: of two equal zeros, `and` of the bits is +0 and `or` is -0; other equal lanes have
/// equal bits.
template <class P> TILETWIN_INLINE P orderedMax(P a, P b) {
  const P ab = a > b ? a : b, ba = b > a ? b : a;
  return (P)((BitsOf<P>)ab & (BitsOf<P>)ba);
}
template <class P> TILETWIN_INLINE P orderedMin(P a, P b) {
  const P ab = a < b ? a : b, ba = b < a ? b : a;
  return (P)((BitsOf<P>)ab | (BitsOf<P>)ba);
}
/// A NaN loses against a number; two NaNs give NaN.
struct MaxNumF {
  template <class P> static TILETWIN_INLINE P apply(P a, P b) {
    P r = orderedMax(a, b);
    r = a != a ? b : r;
    return b != b ? a : r;
  }
};
struct MinNumF {
  template <class P> static TILETWIN_INLINE P apply(P a, P b) {
    P r = orderedMin(a, b);
    r = a != a ? b : r;
    return b != b ? a : r;
  }
};
/// A NaN propagates.
struct MaximumF {
  template <class P> static TILETWIN_INLINE P apply(P a, P b) {
    return ((a != a) | (b != b)) ? a + b : orderedMax(a, b);
  }
};
struct MinimumF {
  template <class P> static TILETWIN_INLINE P apply(P a, P b) {
    return ((a != a) | (b != b)) ? a + b : orderedMin(a, b);
  }
};
/// min(max(x, lo), hi); a NaN x loses and gives lo.
struct ClampF {
  template <class P> static TILETWIN_INLINE P apply(P x, P lo, P hi) {
    return MinNumF::apply(MaxNumF::apply(x, lo), hi);
  }
};
struct ClampFPropagateNan {
  template <class P> static TILETWIN_INLINE P apply(P x, P lo, P hi) {
    return MinimumF::apply(MaximumF::apply(x, lo), hi);
  }
};

/// fmod, exact. f32: the quotient in f64, truncated, is off by at most one while it is below 2^52; x - q*y is then
/// exact in f64.
struct RemF {
  static TILETWIN_INLINE PacketF apply(PacketF x, PacketF y) {
    using D = Vec<double, kLanesF>;
    const D a = __builtin_convertvector(x, D), b = __builtin_convertvector(y, D);
    D q = __builtin_elementwise_trunc(a / b);
    const auto simple = (__builtin_elementwise_abs(q) < 0x1p52) & (__builtin_elementwise_abs(b) < __builtin_inf());
    if (anyLane(~simple)) return mapLanes([](float s, float t) { return std::fmod(s, t); }, x, y);
    D r = __builtin_elementwise_fma(-q, b, a);
    const D size = __builtin_elementwise_abs(b);
    const auto overshot = a < 0.0 ? r > 0.0 : r < 0.0; // q was rounded up in magnitude
    r = overshot ? (a < 0.0 ? r - size : r + size) : r;
    const PacketF narrow = __builtin_convertvector(r, PacketF);
    using U = BitsOf<PacketF>;
    return (PacketF)(((U)narrow & 0x7FFFFFFFu) | ((U)x & 0x80000000u));
  }
  static TILETWIN_INLINE PacketD apply(PacketD x, PacketD y) {
    return mapLanes([](double s, double t) { return std::fmod(s, t); }, x, y);
  }
};

// Comparisons: over vectors of any number of lanes, giving lane masks. O: false, U: true if an operand is NaN.
TILETWIN_BINARY(CmpFOEQ, a == b);
TILETWIN_BINARY(CmpFOGT, a > b);
TILETWIN_BINARY(CmpFOGE, a >= b);
TILETWIN_BINARY(CmpFOLT, a < b);
TILETWIN_BINARY(CmpFOLE, a <= b);
TILETWIN_BINARY(CmpFONE, (a < b) | (a > b));
TILETWIN_BINARY(CmpFORD, (a == a) & (b == b));
TILETWIN_BINARY(CmpFUEQ, ~((a < b) | (a > b)));
TILETWIN_BINARY(CmpFUGT, ~(a <= b));
TILETWIN_BINARY(CmpFUGE, ~(a < b));
TILETWIN_BINARY(CmpFULT, ~(a >= b));
TILETWIN_BINARY(CmpFULE, ~(a > b));
TILETWIN_BINARY(CmpFUNE, a != b);
TILETWIN_BINARY(CmpFUNO, (a != a) | (b != b));
/// NaN or an infinity: x - x is NaN.
struct NonFinite {
  template <class V> static TILETWIN_INLINE auto apply(V x) {
    const V d = x - x;
    return d != d;
  }
};
/// r is NaN and neither x nor y is, or r is infinite and x and y are finite.
struct Born {
  template <class V> static TILETWIN_INLINE auto apply(V r, V x, V y) {
    const V dr = r - r, d = (x - x) + (y - y);
    const auto fromNumbers = (r != r) & (x == x) & (y == y);
    return fromNumbers | ((r == r) & (dr != dr) & (d == d));
  }
};

/// Lane masks stored as I1.
struct MaskStorage {
  using Element = uint8_t;
  template <int L, class M> static TILETWIN_INLINE void store(void* p, M mask) {
    storeAs(p, (Vec<uint8_t, L>)(__builtin_convertvector(mask, Vec<int8_t, L>) & int8_t(1)));
  }
};

} // namespace tiletwin::tile
