// interp/tile/ArgReduce.cpp -- value and index of an extremum along an axis, as combining left to right would give: a
// later element wins if it is better, or equal with a lower index. A NaN is never better nor equal, so it stays only
// where it comes first.
#include "interp/tile/ElementwiseInt.h"
#include "interp/tile/Tables.h"

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

  /// Contiguous row: the extremum first, then the lowest index among the elements equal to it.
  static void row(int64_t axis, E* value, int32_t* index, const E* p, const int32_t* srcIndex) {
    using Lane = LaneOf<V>;
    const Lane first = C::one(p);
    if (first != first) {
      *value = p[0];
      *index = srcIndex ? srcIndex[0] : 0;
      return;
    }
    V best = broadcast<Lane, L>(first);
    int64_t i = 0;
    for (; i + L <= axis; i += L) {
      const V x = C::template load<L>(p + i);
      best = better<Max>(x, best) ? x : best;
    }
    Lane extremum = first;
    for (int j = 0; j < L; ++j)
      if (Max ? best[j] > extremum : best[j] < extremum) extremum = best[j];
    for (; i < axis; ++i) {
      const Lane x = C::one(p + i);
      if (Max ? x > extremum : x < extremum) extremum = x;
    }
    const V target = broadcast<Lane, L>(extremum);
    int64_t place = -1;
    for (i = 0; i < axis;) {
      if (i + L <= axis && !anyLane(C::template load<L>(p + i) == target)) {
        i += L;
        continue;
      }
      const int64_t end = i + L < axis ? i + L : axis;
      for (; i < end; ++i)
        if (C::one(p + i) == extremum && (place < 0 || (srcIndex && srcIndex[i] < srcIndex[place]))) place = i;
      if (place >= 0 && !srcIndex) break;
    }
    *value = p[place];
    *index = srcIndex ? srcIndex[place] : int32_t(place);
  }

  /// L columns side by side; `count` of them exist.
  static void columns(int64_t axis, int64_t inner, int64_t count, E* value, int32_t* index, const E* p,
                      const int32_t* srcIndex) {
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
    for (int64_t a = 1; a < axis; ++a) {
      const V x = elements(a);
      const I i = indices(a);
      const I wins = __builtin_convertvector(better<Max>(x, best), I);
      const I ties = __builtin_convertvector(x == best, I) & (i < bestIndex);
      const I take = wins | ties;
      best = better<Max>(x, best) ? x : best;
      bestIndex = take != 0 ? i : bestIndex;
      bestPlace = take != 0 ? broadcast<int32_t, L>(int32_t(a)) : bestPlace;
    }
    for (int64_t j = 0; j < count; ++j) {
      value[j] = p[bestPlace[j] * inner + j]; // the element itself: equal zeros may differ in sign
      index[j] = bestIndex[j];
    }
  }

  static void run(int64_t outer, int64_t axis, int64_t inner, void* dstValue, int32_t* dstIndex, const void* src,
                  const int32_t* srcIndex) {
    const auto* p = static_cast<const E*>(src);
    auto* value = static_cast<E*>(dstValue);
    for (int64_t o = 0; o < outer; ++o) {
      if (inner == 1) {
        row(axis, value, dstIndex, p, srcIndex);
      } else {
        for (int64_t i = 0; i < inner; i += L)
          columns(axis, inner, inner - i < L ? inner - i : L, value + i, dstIndex + i, p + i,
                  srcIndex ? srcIndex + i : nullptr);
      }
      p += axis * inner, value += inner, dstIndex += inner;
      if (srcIndex) srcIndex += axis * inner;
    }
  }
};

struct ArgRow {
  DType type;
  TwArgReduceFn maxF, minF, maxS, minS, maxU, minU;
};
template <DType T> constexpr ArgRow floats() {
  return {T, ArgReducer<T, true, true>::run, ArgReducer<T, true, false>::run, nullptr, nullptr, nullptr, nullptr};
}
template <DType T> constexpr ArgRow ints() {
  return {T,
          nullptr,
          nullptr,
          ArgReducer<T, true, true>::run,
          ArgReducer<T, true, false>::run,
          ArgReducer<T, false, true>::run,
          ArgReducer<T, false, false>::run};
}
constexpr ArgRow kRows[] = {
    ints<DType::I1>(),           ints<DType::I8>(),           ints<DType::I16>(),        ints<DType::I32>(),
    ints<DType::I64>(),          floats<DType::F8E5M2>(),     floats<DType::F8E4M3FN>(), floats<DType::F8E4M3B11FNUZ>(),
    floats<DType::F8E5M2FNUZ>(), floats<DType::F8E4M3FNUZ>(), floats<DType::F16>(),      floats<DType::BF16>(),
    floats<DType::F32>(),        floats<DType::F64>(),
};

} // namespace

TwArgReduceFn findArgReduce(TwReduce op, DType type) {
  for (const ArgRow& row : kRows) {
    if (row.type != type) continue;
    switch (op) {
    case TwReduce::ArgMaxF: return row.maxF;
    case TwReduce::ArgMinF: return row.minF;
    case TwReduce::ArgMaxSI: return row.maxS;
    case TwReduce::ArgMinSI: return row.minS;
    case TwReduce::ArgMaxUI: return row.maxU;
    case TwReduce::ArgMinUI: return row.minU;
    default: return nullptr;
    }
  }
  return nullptr;
}

} // namespace tiletwin::tile
