// interp/tile/Combines.h -- what reductions and scans combine elements with: an operation on vectors of any lanes, and its identity.
// Here:      sums, products, extrema and bitwise operations of floats and integers; how an I1 is read by signed extrema.
// Not here:  the loops (Reduce.h, Scan.h).
// Invariant: combining with the identity gives the other operand, bit for bit but for NaNs.
#pragma once
#include "interp/tile/ElementwiseInt.h"
#include "interp/tile/Functors.h"

namespace tiletwin::tile {

template <class Op, auto Identity> struct IntCombine {
  template <class T> static constexpr T identity() { return Identity(T(0)); }
  template <class V> static TILETWIN_INLINE V apply(V a, V b) { return Op::apply(a, b); }
};
inline constexpr auto kZero = [](auto t) constexpr { return t; };
inline constexpr auto kOne = [](auto t) constexpr { return decltype(t)(t + 1); };
inline constexpr auto kAllOnes = [](auto t) constexpr { return decltype(t)(t - 1); };
inline constexpr auto kSignedMin = [](auto t) constexpr { return decltype(t)(decltype(t)(1) << (sizeof(t) * 8 - 1)); };
inline constexpr auto kSignedMax = [](auto t) constexpr {
  return decltype(t)(~(decltype(t)(1) << (sizeof(t) * 8 - 1)));
};

/// An integer as reductions and scans see it: Signed reads an I1 1 as -1. Identities pass through store() and load() to
/// fill up a partial vector; for I1 that is still an identity of the one-bit operation, except for signed extrema, whose
/// fill is taken from 0 and -1.
template <DType T, bool Signed> struct CombineLanes : Storage<T> {
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

/// The integer combines by what they compute; `Max` and `Min` are the signed ones of type T.
template <DType T> struct IntCombines {
  static constexpr bool kBit = T == DType::I1;
  using Add = IntCombine<AddI, kZero>;
  using Mul = IntCombine<MulI, kOne>;
  using MaxS = std::conditional_t<kBit, IntCombine<MaxSI, kAllOnes>, IntCombine<MaxSI, kSignedMin>>;
  using MinS = std::conditional_t<kBit, IntCombine<MinSI, kZero>, IntCombine<MinSI, kSignedMax>>;
  using MaxU = IntCombine<MaxUI, kZero>;
  using MinU = IntCombine<MinUI, kAllOnes>;
  using And = IntCombine<AndI, kAllOnes>;
  using Or = IntCombine<OrI, kZero>;
  using Xor = IntCombine<XorI, kZero>;
};

/// The function of an integer combine: a Kernel (Reducer or Scanner) over L lanes.
template <class Fn, template <class, class, class, int> class Kernel, DType T, int L> Fn findIntCombine(TwReduce op) {
  using I = IntCombines<T>;
  using U = CombineLanes<T, false>;
  using S = CombineLanes<T, true>;
  static constexpr OpRow<TwReduce, Fn> kRows[] = {
      {TwReduce::AddI, Kernel<typename I::Add, U, U, L>::run},
      {TwReduce::MulI, Kernel<typename I::Mul, U, U, L>::run},
      {TwReduce::MaxSI, Kernel<typename I::MaxS, S, S, L>::run},
      {TwReduce::MaxUI, Kernel<typename I::MaxU, U, U, L>::run},
      {TwReduce::MinSI, Kernel<typename I::MinS, S, S, L>::run},
      {TwReduce::MinUI, Kernel<typename I::MinU, U, U, L>::run},
      {TwReduce::AndI, Kernel<typename I::And, U, U, L>::run},
      {TwReduce::OrI, Kernel<typename I::Or, U, U, L>::run},
      {TwReduce::XorI, Kernel<typename I::Xor, U, U, L>::run},
  };
  return findRow(kRows, op);
}

struct SumF {
  template <class T> static constexpr T identity() { return T(-0.0); }
  template <class V> static TILETWIN_INLINE V apply(V a, V b) { return a + b; }
};
struct ProductF {
  template <class T> static constexpr T identity() { return T(1); }
  template <class V> static TILETWIN_INLINE V apply(V a, V b) { return a * b; }
};
/// The identity of maxnum and minnum is NaN, which loses against a number.
template <class Op> struct NumExtremumF {
  template <class T> static constexpr T identity() { return T(__builtin_nan("")); }
  template <class V> static TILETWIN_INLINE V apply(V a, V b) { return Op::apply(a, b); }
};
struct LargestF {
  template <class T> static constexpr T identity() { return T(-__builtin_inf()); }
  template <class V> static TILETWIN_INLINE V apply(V a, V b) { return MaximumF::apply(a, b); }
};
struct SmallestF {
  template <class T> static constexpr T identity() { return T(__builtin_inf()); }
  template <class V> static TILETWIN_INLINE V apply(V a, V b) { return MinimumF::apply(a, b); }
};

} // namespace tiletwin::tile
