// interp/tile/Reduce.h -- reduction of a tile seen as [outer][axis][inner], for any combine over lane vectors. inner ==
// 1: each row is folded by a few vectors of partial results, then the lanes; inner > 1: whole vectors run down the
// axis.
// A row's end may be missing in memory: its elements are one value then, and are combined as if they were there.
// Invariant: the order of combination depends only on axis and inner, so equal rows give equal results.
#pragma once
#include "interp/tile/Strip.h"

namespace tiletwin::tile {

/// The upper half of the lanes combined with the lower, down to one.
template <class Combine, class V> TILETWIN_INLINE LaneOf<V> foldLanes(V v) {
  if constexpr (kLanesOf<V> == 1) {
    return v[0];
  } else {
    using Half = Vec<LaneOf<V>, kLanesOf<V> / 2>;
    const auto halves = std::bit_cast<Packets<Half, 2>>(v);
    return foldLanes<Combine>(Half(Combine::apply(halves.part[0], halves.part[1])));
  }
}

/// `count` elements of a row that are `there`, or behind that *rest.
template <class E> void copyRow(E* to, const void* from, int64_t count, int64_t there, const void* rest) {
  there = there < 0 ? 0 : there < count ? there : count;
  copyTail(to, from, there, sizeof(E));
  for (int64_t i = there; i < count; ++i) copyTail(to + i, rest, 1, sizeof(E));
}

/// Combine: apply(V, V) on vectors of any lanes, and identity<T>(). Src is a Storage; its round() follows every
/// combine.
template <class Combine, class Src, class Dst, int L> struct Reducer {
  using T = typename Src::Compute;
  using E = typename Src::Element;
  struct Rounded {
    template <class V> static TILETWIN_INLINE V apply(V a, V b) {
      if constexpr (kLanesOf<V> >= 8) {
        return Src::template round<kLanesOf<V>>(Combine::apply(a, b));
      } else { // the last folds: widened, so that the rounding sees a whole vector
        Vec<T, 8> x{}, y{};
        for (int i = 0; i < kLanesOf<V>; ++i) x[i] = a[i], y[i] = b[i];
        const auto r = Src::template round<8>(Combine::apply(x, y));
        V out;
        for (int i = 0; i < kLanesOf<V>; ++i) out[i] = r[i];
        return out;
      }
    }
  };
  using V = Vec<T, L>;

  static TILETWIN_INLINE V loadPartial(const uint8_t* p, int64_t count) {
    alignas(64) E pad[L];
    Vec<E, L> filled;
    V identity = broadcast<T, L>(Combine::template identity<T>());
    Src::template store<L>(&filled, identity);
    storeAs(pad, filled);
    copyTail(pad, p, count, sizeof(E));
    return Src::template load<L>(pad);
  }

  /// A row in memory. Other rows compute their elements: at(i) gives L of them from i on, all below `there`; first(i, count) gives
  /// `count`, wherever they are, and fills up with the identity. From same() on all are equal.
  struct Stored {
    const uint8_t* p;
    int64_t there;
    const void* rest;
    int64_t same() const { return there; }
    TILETWIN_INLINE V at(int64_t i) const { return Src::template load<L>(p + i * int64_t(sizeof(E))); }
    [[gnu::noinline]] V first(int64_t i, int64_t count) const {
      const uint8_t* from = p + i * int64_t(sizeof(E));
      if (i + count <= there) return loadPartial(from, count);
      alignas(64) E row[L];
      copyRow<E>(row, from, count, there - i, rest);
      return loadPartial(reinterpret_cast<const uint8_t*>(row), count);
    }
  };
  static T row(int64_t axis, const uint8_t* p, const TwRows& rows) {
    return fold(axis, Stored{p, rows.there, rows.rest});
  }

  static constexpr int kAccumulators = 4;
  static constexpr int64_t kRun = kAccumulators * L;

  template <class Row> static TILETWIN_INLINE T fold(int64_t axis, const Row& row) {
    if (axis < L) return foldLanes<Rounded>(row.first(0, axis));
    const int64_t there = row.there < axis ? row.there : axis;
    V acc[kAccumulators];
    int64_t i = 0;
    V total;
    if (there >= kRun) {
      for (int a = 0; a < kAccumulators; ++a) acc[a] = row.at(a * L);
      for (i = kRun; i + kRun <= there; i += kRun)
#pragma clang loop unroll(full)
        for (int a = 0; a < kAccumulators; ++a) acc[a] = Rounded::apply(acc[a], row.at(i + a * L));
    }
    if (there < axis) [[unlikely]] {
      V begun[kAccumulators]; // the others stay in registers
      for (int a = 0; a < kAccumulators && i > 0; ++a) begun[a] = acc[a];
      return foldCut(axis, row, there, i, begun);
    }
    if (i > 0) {
      total = Rounded::apply(Rounded::apply(acc[0], acc[1]), Rounded::apply(acc[2], acc[3]));
    } else {
      total = row.at(0);
      i = L;
    }
    for (; i + L <= axis; i += L) total = Rounded::apply(total, row.at(i));
    if (i < axis) total = Rounded::apply(total, row.first(i, axis - i));
    return foldLanes<Rounded>(total);
  }

  /// The rest of a row that is cut, from element i on, in the same order.
  template <class Row>
  [[gnu::noinline]] static T foldCut(int64_t axis, const Row& row, int64_t there, int64_t i, V* acc) {
    const int64_t same = row.same(), runs = axis >= kRun ? axis / kRun * kRun : L;
    V behind{}; // of the elements that are equal
    if (same <= axis - L) behind = row.first(axis - L, L);
    const auto elements = [&](int64_t i) { return i + L <= there ? row.at(i) : i >= same ? behind : row.first(i, L); };
    for (; i < runs && (i < kRun || i < same || i % kRun != 0); i += L) {
      V& sum = acc[i / L % kAccumulators];
      sum = i < kRun ? elements(i) : Rounded::apply(sum, elements(i));
    }
    // Only equal elements follow. Once they change no bit they never will: zeros in a sum, -inf in a maximum.
    for (bool changes = true; changes && i < runs; i += kRun) {
      changes = false;
      for (int a = 0; a < kAccumulators; ++a) {
        const V before = acc[a];
        acc[a] = Rounded::apply(before, behind);
        changes |= std::memcmp(&before, &acc[a], sizeof(V)) != 0;
      }
    }
    i = runs;
    V total = acc[0];
    if (runs >= kRun) total = Rounded::apply(Rounded::apply(acc[0], acc[1]), Rounded::apply(acc[2], acc[3]));
    for (; i + L <= axis; i += L) total = Rounded::apply(total, elements(i));
    if (i < axis) total = Rounded::apply(total, row.first(i, axis - i));
    return foldLanes<Rounded>(total);
  }

  static TILETWIN_INLINE void column(int64_t axis, uint8_t* out, const uint8_t* p, int64_t rowBytes) {
    V total = Src::template load<L>(p);
    for (int64_t a = 1; a < axis; ++a) total = Rounded::apply(total, Src::template load<L>(p + a * rowBytes));
    Dst::template store<L>(out, total);
  }

  static void run(int64_t outer, int64_t axis, int64_t inner, void* dst, const TwRows* src) {
    auto* out = static_cast<uint8_t*>(dst);
    const auto* p = static_cast<const uint8_t*>(src->first);
    constexpr int64_t kOut = sizeof(typename Dst::Element);
    if (inner == 1) {
      for (int64_t o = 0; o < outer; ++o, p += src->stride, out += kOut) {
        Vec<T, L> result = broadcast<T, L>(row(axis, p, *src));
        alignas(64) uint8_t pad[L * 8];
        Dst::template store<L>(pad, result);
        std::memcpy(out, pad, kOut);
      }
      return;
    }
    for (int64_t o = 0; o < outer; ++o, p += src->stride, out += inner * kOut) columns(axis, 0, inner, out, p);
  }

  /// Columns first .. inner - 1 of one [axis][inner] block.
  static void columns(int64_t axis, int64_t first, int64_t inner, uint8_t* out, const uint8_t* p) {
    constexpr int64_t kOut = sizeof(typename Dst::Element);
    const int64_t rowBytes = inner * int64_t(sizeof(E));
    int64_t i = first;
    for (; i + L <= inner; i += L) column(axis, out + i * kOut, p + i * int64_t(sizeof(E)), rowBytes);
    if (i == inner) return;
    V total = loadPartial(p + i * int64_t(sizeof(E)), inner - i);
    for (int64_t a = 1; a < axis; ++a)
      total = Rounded::apply(total, loadPartial(p + i * int64_t(sizeof(E)) + a * rowBytes, inner - i));
    alignas(64) uint8_t pad[L * 8];
    Dst::template store<L>(pad, total);
    copyTail(out + i * kOut, pad, inner - i, kOut);
  }
};

} // namespace tiletwin::tile
