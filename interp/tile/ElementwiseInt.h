// interp/tile/ElementwiseInt.h -- integer operations, written once over vectors of unsigned lanes and instantiated per
// width. Definitions where the IR leaves a choice: division by zero gives all ones (quotient) and the dividend
// (remainder); INT_MIN / -1 wraps to INT_MIN, remainder 0; shift amounts count modulo the width (the result of a larger
// amount is unspecified, not undefined behaviour). I1: lanes hold 0 or 1; signed operations read 1 as -1; every result
// is reduced to its last bit.
#pragma once
#include "interp/tile/Functors.h"
#include "interp/tile/Strip.h"

namespace tiletwin::tile {

TILETWIN_BINARY(AddI, a + b);
TILETWIN_BINARY(SubI, a - b);
TILETWIN_BINARY(MulI, a* b);
TILETWIN_BINARY(AndI, a& b);
TILETWIN_BINARY(OrI, a | b);
TILETWIN_BINARY(XorI, a ^ b);
TILETWIN_BINARY(MaxUI, __builtin_elementwise_max(a, b));
TILETWIN_BINARY(MinUI, __builtin_elementwise_min(a, b));
struct MaxSI {
  template <class V> static TILETWIN_INLINE V apply(V a, V b) {
    return (V)__builtin_elementwise_max((SignedOf<V>)a, (SignedOf<V>)b);
  }
};
struct MinSI {
  template <class V> static TILETWIN_INLINE V apply(V a, V b) {
    return (V)__builtin_elementwise_min((SignedOf<V>)a, (SignedOf<V>)b);
  }
};
TILETWIN_UNARY(AbsI, (SignedOf<V>)a < 0 ? V{} - a : a);
TILETWIN_UNARY(Popcount, __builtin_elementwise_popcount(a));

// Shifts as a GPU has them: by the width or more (amounts are unsigned) nothing is left but copies of the sign.
template <class V> inline constexpr LaneOf<V> kWidth = LaneOf<V>(sizeof(LaneOf<V>) * 8);
// 32- and 64-bit lanes: one instruction (vpsllv), which is what the compiler makes of these choices.
TILETWIN_BINARY(ShlI, b < kWidth<V> ? a << b : V{});
TILETWIN_BINARY(ShrUI, b < kWidth<V> ? a >> b : V{});
struct ShrSI {
  template <class V> static TILETWIN_INLINE V apply(V a, V b) {
    const V most = V{} + LaneOf<V>(kWidth<V> - 1);
    return (V)((SignedOf<V>)a >> (SignedOf<V>)(__builtin_elementwise_min(b, most)));
  }
};

/// Quotients of nonzero divisors, truncated. Up to 32 bits: a quotient of floats with enough bits, truncated, is exact.
template <class V> TILETWIN_INLINE V quotient(V a, V b) {
  using T = LaneOf<V>;
  constexpr int L = kLanesOf<V>;
  if constexpr (sizeof(T) == 8) {
    return mapLanes([](T x, T y) { return T(std::is_signed_v<T> && y == T(-1) ? T(0) - x : T(x / y)); }, a, b);
  } else if constexpr (sizeof(T) == 4) {
    using D = Vec<double, L>;
    const D q = __builtin_elementwise_trunc(__builtin_convertvector(a, D) / __builtin_convertvector(b, D));
    return (V) __builtin_convertvector((Vec<uint64_t, L>)(q + 0x1.8p52), Vec<uint32_t, L>); // the low bits of q
  } else {
    using F = Vec<float, L>;
    return __builtin_convertvector(
        __builtin_convertvector(__builtin_convertvector(a, F) / __builtin_convertvector(b, F), Vec<int32_t, L>), V);
  }
}
template <class V> TILETWIN_INLINE V divide(V a, V b) {
  const auto zero = b == 0;
  const V q = quotient(a, zero ? V{} + LaneOf<V>(1) : b);
  return zero ? V{} - LaneOf<V>(1) : q;
}
template <class V> TILETWIN_INLINE V remainder(V a, V b) { // divisor 0: a - q*0 = a
  return a - divide(a, b) * b;
}
TILETWIN_BINARY(DivUI, divide(a, b));
TILETWIN_BINARY(RemUI, remainder(a, b));
TILETWIN_BINARY(DivSI, (V)divide((SignedOf<V>)a, (SignedOf<V>)b));
TILETWIN_BINARY(RemSI, (V)remainder((SignedOf<V>)a, (SignedOf<V>)b));

/// The high half of the unsigned product.
struct MulHiUI {
  template <class V> static TILETWIN_INLINE V apply(V a, V b) {
    using T = LaneOf<V>;
    constexpr int L = kLanesOf<V>;
    if constexpr (sizeof(T) == 8) {
      return mapLanes([](T x, T y) { return T((unsigned __int128)x * y >> 64); }, a, b);
    } else {
      using W = Vec<std::conditional_t<sizeof(T) == 4, uint64_t, uint32_t>, L>;
      return __builtin_convertvector((__builtin_convertvector(a, W) * __builtin_convertvector(b, W)) >> (sizeof(T) * 8),
                                     V);
    }
  }
};

TILETWIN_BINARY(CmpEQ, a == b);
TILETWIN_BINARY(CmpNE, a != b);
TILETWIN_BINARY(CmpULT, a < b);
TILETWIN_BINARY(CmpULE, a <= b);
TILETWIN_BINARY(CmpUGT, a > b);
TILETWIN_BINARY(CmpUGE, a >= b);
TILETWIN_BINARY(CmpSLT, (SignedOf<V>)a < (SignedOf<V>)b);
TILETWIN_BINARY(CmpSLE, (SignedOf<V>)a <= (SignedOf<V>)b);
TILETWIN_BINARY(CmpSGT, (SignedOf<V>)a > (SignedOf<V>)b);
TILETWIN_BINARY(CmpSGE, (SignedOf<V>)a >= (SignedOf<V>)b);

/// Unsigned: lanes as they are. Signed: I1 lanes as 0 or -1; other widths as they are.
template <DType T> struct IntStrips {
  struct Unsigned : Storage<T> {};
  struct Signed : Storage<T> {
    template <int L> static TILETWIN_INLINE auto load(const void* p) {
      auto v = Storage<T>::template load<L>(p);
      if constexpr (T == DType::I1) v = decltype(v){} - v;
      return v;
    }
  };
  struct Result : Storage<T> {
    template <int L, class V> static TILETWIN_INLINE void store(void* p, V v) {
      if constexpr (T == DType::I1) v &= LaneOf<V>(1);
      Storage<T>::template store<L>(p, v);
    }
  };
  static constexpr int L = kLanes<typename Storage<T>::Compute, (sizeof(typename Storage<T>::Compute) == 1 ? 2 : 4)>;
  template <class Op> static constexpr TwStripFn unary = strip<Op, L, Result, Signed>;
  template <class Op> static constexpr TwStripFn unsigned2 = strip<Op, L, Result, Unsigned, Unsigned>;
  template <class Op> static constexpr TwStripFn signed2 = strip<Op, L, Result, Signed, Signed>;
  template <class Op> static constexpr TwStripFn compareU = strip<Op, L, MaskStorage, Unsigned, Unsigned>;
  template <class Op> static constexpr TwStripFn compareS = strip<Op, L, MaskStorage, Signed, Signed>;
};

template <DType T> TwStripFn findIntStrip(TwElementwise op) {
  using I = IntStrips<T>;
  using E = TwElementwise;
  static constexpr StripRow kRows[] = {
      {E::AddI, I::template unsigned2<AddI>},
      {E::SubI, I::template unsigned2<SubI>},
      {E::MulI, I::template unsigned2<MulI>},
      {E::DivSI, I::template signed2<DivSI>},
      {E::DivUI, I::template unsigned2<DivUI>},
      {E::RemSI, I::template signed2<RemSI>},
      {E::RemUI, I::template unsigned2<RemUI>},
      {E::MaxSI, I::template signed2<MaxSI>},
      {E::MaxUI, I::template unsigned2<MaxUI>},
      {E::MinSI, I::template signed2<MinSI>},
      {E::MinUI, I::template unsigned2<MinUI>},
      {E::AndI, I::template unsigned2<AndI>},
      {E::OrI, I::template unsigned2<OrI>},
      {E::XorI, I::template unsigned2<XorI>},
      {E::ShlI, I::template unsigned2<ShlI>},
      {E::ShrSI, I::template signed2<ShrSI>},
      {E::ShrUI, I::template unsigned2<ShrUI>},
      {E::MulHiUI, T == DType::I1 ? nullptr : I::template unsigned2<MulHiUI>},
      {E::AbsI, I::template unary<AbsI>},
      {E::Popcount, T == DType::I1 ? nullptr : I::template unary<Popcount>},
      {E::CmpEQ, I::template compareU<CmpEQ>},
      {E::CmpNE, I::template compareU<CmpNE>},
      {E::CmpSLT, I::template compareS<CmpSLT>},
      {E::CmpSLE, I::template compareS<CmpSLE>},
      {E::CmpSGT, I::template compareS<CmpSGT>},
      {E::CmpSGE, I::template compareS<CmpSGE>},
      {E::CmpULT, I::template compareU<CmpULT>},
      {E::CmpULE, I::template compareU<CmpULE>},
      {E::CmpUGT, I::template compareU<CmpUGT>},
      {E::CmpUGE, I::template compareU<CmpUGE>},
  };
  return findRow(kRows, op);
}

} // namespace tiletwin::tile
