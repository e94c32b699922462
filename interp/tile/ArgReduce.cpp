// interp/tile/ArgReduce.cpp -- value and index of an extremum along an axis, element for element what the region
//     left = better(v0, v1) or (tie == LowestIndex and v0 == v1 and i0 < i1);   left ? (v0, i0) : (v1, i1)
// gives when neighbours are combined, then their winners, and so on, which is how regions without a tile function run.
// Idea:      among numbers it makes no difference how they are grouped: vectors look for the extremum. A NaN is never better
//            nor equal, so it loses on the left and wins on the right: rows that hold one are combined as the region is.
#include "interp/tile/ElementwiseInt.h"
#include "interp/tile/Tables.h"
#include "interp/tile/TypeLists.h"
#include <bit>

namespace tiletwin::tile {
namespace {

/// How elements compare: signed integers reinterpret their lanes; I1 reads 1 as -1 when signed.
template <DType T, bool Signed> struct Compared {
  using E = typename Storage<T>::Element;
  template <int L> static TILETWIN_INLINE auto load(const E* p) {
    auto v = Storage<T>::template load<L>(p);
    if constexpr (isFloat(T))
      return v;
    else {
      if constexpr (T == DType::I1 && Signed) v = decltype(v){} - v;
      if constexpr (Signed)
        return (SignedOf<decltype(v)>)v;
      else
        return v;
    }
  }
  static TILETWIN_INLINE auto one(const E* p) {
    E pad[8] = {*p};
    return load<8>(pad)[0];
  }
};
template <bool Max, class V> TILETWIN_INLINE auto better(V x, V best) {
  if constexpr (Max)
    return x > best;
  else
    return x < best;
}

template <DType T, bool Signed, bool Max> struct ArgReducer {
  using C = Compared<T, Signed>;
  using E = typename C::E;
  static constexpr int kOwn = kLanes<typename Storage<T>::Compute, (sizeof(E) == 1 ? 1 : 2)>;
  static constexpr int L = kOwn < 8 ? 8 : kOwn;
  using V = decltype(C::template load<L>(nullptr));
  using I = Vec<int32_t, L>;

  using Lane = LaneOf<V>;

  /// One sequence of elements `stride` apart.
  struct Sequence {
    const E* p;
    const int32_t* srcIndex; ///< or null: 0, 1, ...
    int64_t axis, stride;
    TwArgTie tie;
    Lane at(int64_t a) const { return C::one(p + a * stride); }
    int32_t indexAt(int64_t a) const { return srcIndex ? srcIndex[a * stride] : int32_t(a); }
    bool leftWins(int64_t l, int64_t r) const {
      const Lane x = at(l), y = at(r);
      return (Max ? x > y : x < y) || (tie == kTwLowestIndex && x == y && indexAt(l) < indexAt(r));
    }
    /// The winner of elements [begin, begin + count) as far as they exist; `count` is a power of two.
    int64_t winner(int64_t begin, int64_t count) const {
      if (count == 1) return begin;
      const int64_t half = count / 2, left = winner(begin, half);
      if (begin + half >= axis) return left;
      const int64_t right = winner(begin + half, half);
      return leftWins(left, right) ? left : right;
    }
    int64_t winner() const { return winner(0, int64_t(std::bit_ceil(uint64_t(axis)))); }
  };

  /// The place of the winner of a contiguous row: the extremum first, then which of the elements equal to it.
  static int64_t placeInRow(int64_t axis, const E* p, const int32_t* srcIndex, TwArgTie tie) {
    Lane extremum = C::one(p);
    V best = broadcast<Lane, L>(extremum);
    bool hasNan = false;
    int64_t i = 0;
    {
      auto unordered = best != best;
      for (; i + L <= axis; i += L) {
        const V x = C::template load<L>(p + i);
        if constexpr (isFloat(T)) unordered |= x != x;
        best = better<Max>(x, best) ? x : best;
      }
      if constexpr (isFloat(T)) hasNan = anyLane(unordered);
    }
    for (int j = 0; j < L; ++j)
      if (Max ? best[j] > extremum : best[j] < extremum) extremum = best[j];
    for (; i < axis; ++i) {
      const Lane x = C::one(p + i);
      if constexpr (isFloat(T)) hasNan |= x != x;
      if (Max ? x > extremum : x < extremum) extremum = x;
    }
    if (hasNan) return Sequence{p, srcIndex, axis, 1, tie}.winner();
    const V target = broadcast<Lane, L>(extremum);
    const bool firstWins = tie == kTwLowestIndex && !srcIndex;
    int64_t place = -1;
    for (i = 0; i < axis;) {
      if (i + L <= axis && !anyLane(C::template load<L>(p + i) == target)) {
        i += L;
        continue;
      }
      for (const int64_t end = i + L < axis ? i + L : axis; i < end; ++i) {
        if (C::one(p + i) != extremum) continue;
        if (place < 0 || (tie == kTwLowestIndex ? srcIndex && srcIndex[i] <= srcIndex[place] : true)) place = i;
      }
      if (place >= 0 && firstWins) break;
    }
    return place;
  }

  static void row(int64_t axis, E* value, int32_t* index, const E* p, const int32_t* srcIndex, TwArgTie tie) {
    const int64_t place = placeInRow(axis, p, srcIndex, tie);
    *value = p[place]; // the element itself: equal zeros may differ in sign
    *index = srcIndex ? srcIndex[place] : int32_t(place);
  }

  /// L columns side by side; `count` of them exist.
  static void columns(int64_t axis, int64_t inner, int64_t count, E* value, int32_t* index, const E* p,
                      const int32_t* srcIndex, TwArgTie tie) {
    E pad[L] = {};
    int32_t indexPad[L] = {};
    const auto elements = [&](int64_t a) __attribute__((always_inline)) {
      if (count == L) return C::template load<L>(p + a * inner);
      std::memcpy(pad, p + a * inner, size_t(count) * sizeof(E));
      return C::template load<L>(pad);
    };
    const auto indices = [&](int64_t a) __attribute__((always_inline)) {
      if (!srcIndex) return broadcast<int32_t, L>(int32_t(a));
      if (count == L) return loadAs<I>(srcIndex + a * inner);
      std::memcpy(indexPad, srcIndex + a * inner, size_t(count) * sizeof(int32_t));
      return loadAs<I>(indexPad);
    };
    V best = elements(0);
    I bestIndex = indices(0), bestPlace{};
    auto unordered = best != best;
    for (int64_t a = 1; a < axis; ++a) {
      const V x = elements(a);
      const I i = indices(a);
      if constexpr (isFloat(T)) unordered |= x != x;
      const I wins = __builtin_convertvector(better<Max>(x, best), I);
      const I ties = __builtin_convertvector(x == best, I) & (tie == kTwLowestIndex ? (i <= bestIndex) : I{} - 1);
      const I take = wins | ties;
      best = better<Max>(x, best) ? x : best;
      bestIndex = take != 0 ? i : bestIndex;
      bestPlace = take != 0 ? broadcast<int32_t, L>(int32_t(a)) : bestPlace;
    }
    for (int64_t j = 0; j < count; ++j) {
      int64_t place = bestPlace[j];
      if (isFloat(T) && unordered[j])
        place = Sequence{p + j, srcIndex ? srcIndex + j : nullptr, axis, inner, tie}.winner();
      value[j] = p[place * inner + j];
      index[j] = srcIndex ? srcIndex[place * inner + j] : int32_t(place);
    }
  }

  static void run(int64_t outer, int64_t axis, int64_t inner, void* dstValue, int32_t* dstIndex, const void* src,
                  const int32_t* srcIndex, TwArgTie tie) {
    const auto* p = static_cast<const E*>(src);
    auto* value = static_cast<E*>(dstValue);
    for (int64_t o = 0; o < outer; ++o) {
      if (inner == 1) {
        row(axis, value, dstIndex, p, srcIndex, tie);
      } else {
        for (int64_t i = 0; i < inner; i += L)
          columns(axis, inner, inner - i < L ? inner - i : L, value + i, dstIndex + i, p + i,
                  srcIndex ? srcIndex + i : nullptr, tie);
      }
      p += axis * inner, value += inner, dstIndex += inner;
      if (srcIndex) srcIndex += axis * inner;
    }
  }
};

} // namespace

TwArgReduceFn findArgReduce(TwReduce op, DType type) {
  using R = TwReduce;
  if (isFloat(type))
    return forType(Floats(), type, [&]<DType T>() -> TwArgReduceFn {
      return op == R::ArgMaxF   ? ArgReducer<T, true, true>::run
             : op == R::ArgMinF ? ArgReducer<T, true, false>::run
                                : nullptr;
    });
  return forType(Ints(), type, [&]<DType T>() -> TwArgReduceFn {
    switch (op) {
    case R::ArgMaxSI: return ArgReducer<T, true, true>::run;
    case R::ArgMinSI: return ArgReducer<T, true, false>::run;
    case R::ArgMaxUI: return ArgReducer<T, false, true>::run;
    case R::ArgMinUI: return ArgReducer<T, false, false>::run;
    default: return nullptr;
    }
  });
}

} // namespace tiletwin::tile
