// interp/tile/Casts.h -- conversions of vectors between compute types; the Cast*.cpp files instantiate them per pair of
// storage types.
#pragma once
#include "interp/tile/Functors.h"
#include "interp/tile/Strip.h"
#include "interp/tile/TypeLists.h"

namespace tiletwin::tile {

template <DType T>
inline constexpr bool kIsNarrowFloat = std::is_same_v<typename Storage<T>::Compute, float> && T != DType::F32;

/// f64 to f32 rounded to odd: a second rounding, to a narrow format, is then right.
template <class D> TILETWIN_INLINE auto toF32Odd(D v) {
  constexpr int L = kLanesOf<D>;
  using F = Vec<float, L>;
  using U = Vec<uint32_t, L>;
  const F nearest = __builtin_convertvector(v, F);
  const D back = __builtin_convertvector(nearest, D);
  const auto tooLarge =
      (U) __builtin_convertvector(__builtin_elementwise_abs(back) > __builtin_elementwise_abs(v), Vec<int32_t, L>);
  const auto inexact = (U) __builtin_convertvector(back != v, Vec<int32_t, L>) & (U)(nearest == nearest);
  return (F)(((U)nearest + tooLarge) | (inexact & 1u)); // + mask: - 1 where the magnitude was rounded up
}
/// f64 to f32 toward zero.
template <class D> TILETWIN_INLINE auto toF32TowardZero(D v) {
  constexpr int L = kLanesOf<D>;
  using F = Vec<float, L>;
  using U = Vec<uint32_t, L>;
  const F nearest = __builtin_convertvector(v, F);
  const D back = __builtin_convertvector(nearest, D);
  return (F)((U)nearest + (U) __builtin_convertvector(__builtin_elementwise_abs(back) > __builtin_elementwise_abs(v),
                                                      Vec<int32_t, L>));
}

/// Destinations as the strip loop wants them: store(p, v) of a source's compute vector.
template <DType To, TwCastKind Kind> struct FloatResult {
  using Element = typename Storage<To>::Element;
  template <int L, class V> static TILETWIN_INLINE void store(void* p, V v) {
    using S = Storage<To>;
    constexpr bool kTruncate = Kind == TwCastKind::TruncateToward0;
    constexpr bool kWide = std::is_same_v<LaneOf<V>, double>;
    if constexpr (To == DType::F64) {
      S::template store<L>(p, __builtin_convertvector(v, Vec<double, L>));
    } else if constexpr (To == DType::F32) {
      if constexpr (kWide && kTruncate)
        S::template store<L>(p, toF32TowardZero(v));
      else
        S::template store<L>(p, __builtin_convertvector(v, Vec<float, L>));
    } else {
      Vec<float, L> narrow;
      if constexpr (kWide)
        narrow = toF32Odd(v);
      else
        narrow = v;
      storeAs(p, S::template narrow<L, kTruncate ? 3 : 0>(narrow));
    }
  }
};
/// What find.operator()<From, To>() gives for a pair of types; null: one of them is not in its list.
template <class FromList, class ToList, class Find>
TwStripFn forTypes(FromList froms, DType from, ToList tos, DType to, Find find) {
  return forType(froms, from, [&]<DType From>() {
    return forType(tos, to, [&]<DType To>() { return find.template operator()<From, To>(); });
  });
}

} // namespace tiletwin::tile
