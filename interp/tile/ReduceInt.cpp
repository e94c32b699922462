// interp/tile/ReduceInt.cpp -- sums, products, extrema and bitwise reductions of integers along an axis, in wrap-around
// arithmetic. I1 lanes hold 0 or 1; signed extrema read 1 as -1; results are reduced to their last bit.
#include "interp/tile/ElementwiseInt.h"
#include "interp/tile/Reduce.h"
#include "interp/tile/Tables.h"

namespace tiletwin::tile {
namespace {

template <class Op, auto Identity> struct IntCombine {
  template <class T> static constexpr T identity() { return Identity(T(0)); }
  template <class V> static TILETWIN_INLINE V apply(V a, V b) { return Op::apply(a, b); }
};
constexpr auto kZero = [](auto t) constexpr { return t; };
constexpr auto kOne = [](auto t) constexpr { return decltype(t)(t + 1); };
constexpr auto kAllOnes = [](auto t) constexpr { return decltype(t)(t - 1); };
constexpr auto kSignedMin = [](auto t) constexpr { return decltype(t)(decltype(t)(1) << (sizeof(t) * 8 - 1)); };
constexpr auto kSignedMax = [](auto t) constexpr { return decltype(t)(~(decltype(t)(1) << (sizeof(t) * 8 - 1))); };

/// An integer as reductions see it: Signed reads an I1 1 as -1.
template <DType T, bool Signed> struct Lanes : Storage<T> {
  template <int L> static TILETWIN_INLINE auto load(const void* p) {
    auto v = Storage<T>::template load<L>(p);
    if constexpr (T == DType::I1 && Signed) v = decltype(v){} - v;
    return v;
  }
  template <int L, class V> static TILETWIN_INLINE void store(void* p, V v) {
    if constexpr (T == DType::I1) v &= LaneOf<V>(1);
    Storage<T>::template store<L>(p, v);
  }
};

/// Identities pass through store() and load() to fill up a partial vector; for I1 that is still an identity of the
/// one-bit operation, except for signed extrema, whose fill is taken from 0 and -1.
constexpr auto kSignedMinI1 = [](auto t) constexpr { return decltype(t)(t - 1); };
constexpr auto kSignedMaxI1 = [](auto t) constexpr { return t; };

template <DType T> TwReduceFn find(TwReduce op) {
  using C = typename Storage<T>::Compute;
  constexpr int L = kLanes < C, sizeof(C) == 1 ? 1 : 2 > ;
  constexpr bool kBit = T == DType::I1;
  using U = Lanes<T, false>;
  using S = Lanes<T, true>;
  using MaxS = std::conditional_t<kBit, IntCombine<MaxSI, kSignedMinI1>, IntCombine<MaxSI, kSignedMin>>;
  using MinS = std::conditional_t<kBit, IntCombine<MinSI, kSignedMaxI1>, IntCombine<MinSI, kSignedMax>>;
  static constexpr ReduceRow kRows[] = {
      {TwReduce::AddI, Reducer<IntCombine<AddI, kZero>, U, U, L>::run},
      {TwReduce::MulI, Reducer<IntCombine<MulI, kOne>, U, U, L>::run},
      {TwReduce::MaxSI, Reducer<MaxS, S, S, L>::run},
      {TwReduce::MaxUI, Reducer<IntCombine<MaxUI, kZero>, U, U, L>::run},
      {TwReduce::MinSI, Reducer<MinS, S, S, L>::run},
      {TwReduce::MinUI, Reducer<IntCombine<MinUI, kAllOnes>, U, U, L>::run},
      {TwReduce::AndI, Reducer<IntCombine<AndI, kAllOnes>, U, U, L>::run},
      {TwReduce::OrI, Reducer<IntCombine<OrI, kZero>, U, U, L>::run},
      {TwReduce::XorI, Reducer<IntCombine<XorI, kZero>, U, U, L>::run},
  };
  return findReduceRow(kRows, op);
}

} // namespace

TwReduceFn findReduceInt(TwReduce op, DType type) {
  switch (type) {
  case DType::I1: return find<DType::I1>(op);
  case DType::I8: return find<DType::I8>(op);
  case DType::I16: return find<DType::I16>(op);
  case DType::I32: return find<DType::I32>(op);
  case DType::I64: return find<DType::I64>(op);
  default: return nullptr;
  }
}

} // namespace tiletwin::tile
