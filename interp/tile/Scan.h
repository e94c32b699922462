// interp/tile/Scan.h -- inclusive prefix combination of a tile seen as [outer][axis][inner], for any combine over lane vectors.
// inner == 1: a vector is scanned by combining it with itself moved by 1, 2, 4, ... lanes, then joined to what came
// before; inner > 1: each row is the row before combined with the source's row.
// Invariant: the order of combination depends only on axis and inner, so equal rows give equal results.
#pragma once
#include "interp/tile/Strip.h"

namespace tiletwin::tile {

/// v moved by S lanes: up (towards higher lanes), or down; `fill` moves in.
template <int S, bool Down, class V> TILETWIN_INLINE V moveLanes(V v, V fill) {
  constexpr int L = kLanesOf<V>;
  return [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
    if constexpr (Down)
      return __builtin_shufflevector(v, fill, (I + S)...); // lanes from L on are the fill's
    else
      return __builtin_shufflevector(fill, v, (I + L - S)...);
  }(std::make_integer_sequence<int, L>{});
}

/// Combine: apply(V, V), identity<T>(). Src is a Storage; its round() follows every combine. Dst stores results.
template <class Combine, class Src, class Dst, int L> struct Scanner {
  using T = typename Src::Compute;
  using E = typename Src::Element;
  using V = Vec<T, L>;
  static constexpr int64_t kIn = sizeof(E), kOut = sizeof(typename Dst::Element);

  static TILETWIN_INLINE V combine(V a, V b) { return Src::template round<L>(Combine::apply(a, b)); }

  static TILETWIN_INLINE V loadPartial(const uint8_t* p, int64_t count) {
    alignas(64) E pad[L];
    Vec<E, L> filled;
    Src::template store<L>(&filled, broadcast<T, L>(Combine::template identity<T>()));
    storeAs(pad, filled);
    copyTail(pad, p, count, sizeof(E));
    return Src::template load<L>(pad);
  }
  static TILETWIN_INLINE void storePartial(uint8_t* to, V v, int64_t count) {
    alignas(64) uint8_t pad[L * 8];
    Dst::template store<L>(pad, v);
    copyTail(to, pad, count, size_t(kOut));
  }

  template <bool Down, int S = 1> static TILETWIN_INLINE V scanLanes(V v, V fill) {
    if constexpr (S < L) {
      return scanLanes<Down, 2 * S>(combine(moveLanes<S, Down>(v, fill), v), fill);
    } else {
      return v;
    }
  }

  template <bool Down> static void row(int64_t axis, uint8_t* out, const uint8_t* p) {
    const V identity = broadcast<T, L>(Combine::template identity<T>());
    if (axis < L) {
      storePartial(out, scanLanes<Down>(loadPartial(p, axis), identity), axis);
      return;
    }
    V before = identity;
    const int64_t whole = axis / L * L;
    const auto join = [&](V v) __attribute__((always_inline)) {
      const V scanned = combine(before, scanLanes<Down>(v, identity));
      before = broadcast<T, L>(scanned[Down ? 0 : L - 1]);
      return scanned;
    };
    if constexpr (Down) {
      if (whole < axis)
        storePartial(out + whole * kOut, join(loadPartial(p + whole * kIn, axis - whole)), axis - whole);
      for (int64_t i = whole - L; i >= 0; i -= L)
        Dst::template store<L>(out + i * kOut, join(Src::template load<L>(p + i * kIn)));
    } else {
      for (int64_t i = 0; i < whole; i += L)
        Dst::template store<L>(out + i * kOut, join(Src::template load<L>(p + i * kIn)));
      if (whole < axis)
        storePartial(out + whole * kOut, join(loadPartial(p + whole * kIn, axis - whole)), axis - whole);
    }
  }

  /// One row of `inner` elements: out = before combined with p. `before` is a row of results.
  static TILETWIN_INLINE void next(int64_t inner, uint8_t* out, const uint8_t* before, const uint8_t* p) {
    int64_t i = 0;
    for (; i + L <= inner; i += L)
      Dst::template store<L>(out + i * kOut,
                             combine(Src::template load<L>(before + i * kOut), Src::template load<L>(p + i * kIn)));
    if (i < inner)
      storePartial(out + i * kOut,
                   combine(loadPartial(before + i * kOut, inner - i), loadPartial(p + i * kIn, inner - i)), inner - i);
  }

  static void run(int64_t outer, int64_t axis, int64_t inner, void* dst, const void* src, int64_t rowStride,
                  bool reverse) {
    static_assert(kIn == kOut);
    auto* out = static_cast<uint8_t*>(dst);
    const auto* p = static_cast<const uint8_t*>(src);
    if (inner == 1) {
      for (int64_t o = 0; o < outer; ++o, p += rowStride, out += axis * kOut)
        reverse ? row<true>(axis, out, p) : row<false>(axis, out, p);
      return;
    }
    const int64_t step = reverse ? -inner * kIn : inner * kIn;
    for (int64_t o = 0; o < outer; ++o, p += rowStride, out += axis * inner * kOut) {
      const uint8_t* from = reverse ? p + (axis - 1) * inner * kIn : p;
      uint8_t* to = reverse ? out + (axis - 1) * inner * kOut : out;
      std::memcpy(to, from, size_t(inner * kIn));
      for (int64_t a = 1; a < axis; ++a, from += step, to += step) next(inner, to + step, to, from + step);
    }
  }
};

} // namespace tiletwin::tile
