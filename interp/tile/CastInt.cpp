// interp/tile/CastInt.cpp -- conversions from integers: to integers (truncation, sign or zero extension, != 0) and to
// floats, rounded once. I1 read as signed is 0 or -1. TruncateToward0, which speaks of floats, reads a source as signed
// and rounds to nearest.
#include "interp/tile/Casts.h"
#include "interp/tile/Tables.h"

namespace tiletwin::tile {
namespace {

/// Integer lanes of a width, read as signed or unsigned.
template <DType T, bool Signed> struct IntSource {
  using Element = typename Storage<T>::Element;
  template <int L> static TILETWIN_INLINE auto load(const void* p) {
    auto v = Storage<T>::template load<L>(p);
    if constexpr (T == DType::I1 && Signed) v = decltype(v){} - v;
    if constexpr (Signed)
      return (SignedOf<decltype(v)>)v;
    else
      return v;
  }
};

template <DType To> struct IntResult {
  using Element = typename Storage<To>::Element;
  template <int L, class V> static TILETWIN_INLINE void store(void* p, V v) {
    if constexpr (To == DType::I1)
      MaskStorage::store<L>(p, v != LaneOf<V>(0));
    else
      storeAs(p, __builtin_convertvector(
                     v, Vec<std::conditional_t<std::is_signed_v<LaneOf<V>>, std::make_signed_t<Element>, Element>, L>));
  }
};

/// Up to 32 bits an f64 holds the integer exactly. 64 bits: directly to f32 and f64; to a narrow float through an f64
/// rounded to odd.
template <DType To> struct FloatFromInt {
  using Element = typename Storage<To>::Element;
  template <int L, class V> static TILETWIN_INLINE void store(void* p, V v) {
    constexpr bool kExactInF32 = sizeof(LaneOf<V>) <= 2;
    if constexpr (To == DType::F32 || To == DType::F64) {
      storeAs(p, __builtin_convertvector(v, Vec<Element, L>));
    } else if constexpr (kExactInF32) {
      Storage<To>::template store<L>(p, __builtin_convertvector(v, Vec<float, L>));
    } else if constexpr (sizeof(LaneOf<V>) == 4) {
      FloatResult<To, TwCastKind::SignedInt>::template store<L>(p, __builtin_convertvector(v, Vec<double, L>));
    } else {
      Vec<double, L> wide;
      for (int i = 0; i < L; ++i) {
        const bool negative = std::is_signed_v<LaneOf<V>> && int64_t(v[i]) < 0;
        uint64_t u = negative ? 0 - uint64_t(v[i]) : uint64_t(v[i]);
        if (u >> 53) u = (u & ~uint64_t(0x7FF)) | uint64_t((u & 0x7FF) != 0) << 11;
        wide[i] = negative ? -double(u) : double(u);
      }
      FloatResult<To, TwCastKind::SignedInt>::template store<L>(p, wide);
    }
  }
};

} // namespace

TwStripFn findCastIntToInt(DType from, DType to, TwCastKind kind) {
  return forTypes(Ints(), from, Ints(), to, [&]<DType From, DType To>() -> TwStripFn {
    constexpr int L = kVectorBytes;
    return kind == TwCastKind::UnsignedInt ? strip<SameValue, L, IntResult<To>, IntSource<From, false>>
                                           : strip<SameValue, L, IntResult<To>, IntSource<From, true>>;
  });
}
TwStripFn findCastIntToFloat(DType from, DType to, TwCastKind kind) {
  return forTypes(Ints(), from, Floats(), to, [&]<DType From, DType To>() -> TwStripFn {
    constexpr int L = kVectorBytes / 2;
    return kind == TwCastKind::UnsignedInt ? strip<SameValue, L, FloatFromInt<To>, IntSource<From, false>>
                                           : strip<SameValue, L, FloatFromInt<To>, IntSource<From, true>>;
  });
}

} // namespace tiletwin::tile
