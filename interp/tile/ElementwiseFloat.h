// interp/tile/ElementwiseFloat.h -- the table of float operations, written once and instantiated per float type
// (ElementwiseFloat.cpp).
#pragma once
#include "interp/tile/DivideBySplat.h"
#include "interp/tile/MathFunctions.h"
#include "interp/tile/Strip.h"

namespace tiletwin::tile {

template <DType T> struct FloatStrips {
  using S = Storage<T>;
  static constexpr int kLight = kLanes<typename S::Compute, 4>, kHeavy = kLanes<typename S::Compute, 2>;
  template <class Op> static constexpr TwStripFn light1 = strip<OnPackets<Op>, kLight, S, S>;
  template <class Op> static constexpr TwStripFn heavy1 = strip<OnPackets<Op>, kHeavy, S, S>;
  template <class Op> static constexpr TwStripFn light2 = strip<OnPackets<Op>, kLight, S, S, S>;
  template <class Op> static constexpr TwStripFn heavy2 = strip<OnPackets<Op>, kHeavy, S, S, S>;
  template <class Op> static constexpr TwStripFn ternary = strip<OnPackets<Op>, kHeavy, S, S, S, S>;
  static constexpr TwStripFn kDivide = [] {
    if constexpr (std::is_same_v<typename S::Compute, float>)
      return &divide<S, kLight>;
    else
      return light2<DivF>;
  }();
  template <class Op> static constexpr TwStripFn compare = strip<Op, kLight, MaskStorage, S, S>;
};

/// Op of probes: it holds only where its first operand is NaN or infinite, so a run of finite numbers is told from that one alone.
template <DType T, class Op, class... In> void rarely(int64_t n, void* dst, const void* const* src, uint32_t splat) {
  using S = Storage<T>;
  constexpr int L = FloatStrips<T>::kLight;
  constexpr int64_t kRun = 8 * L;
  constexpr TwStripFn everywhere = strip<Op, FloatStrips<T>::kHeavy, MaskStorage, In...>;
  if (splat & 1) return everywhere(n, dst, src, splat);
  auto* out = static_cast<unsigned char*>(dst);
  for (int64_t start = 0; start < n; start += kRun) {
    const int64_t count = n - start < kRun ? n - start : kRun;
    const auto* x = static_cast<const unsigned char*>(src[0]) + start * int64_t(sizeof(typename S::Element));
    bool finite = count % L == 0;
    if (finite) {
      auto v = S::template load<L>(x);
      auto d = v - v;
      for (int64_t i = L; i < count; i += L) {
        v = S::template load<L>(x + i * int64_t(sizeof(typename S::Element)));
        d += v - v; // NaN once, NaN for ever
      }
      finite = !__builtin_reduce_or(d != d);
    }
    if (finite) {
      std::memset(out + start, 0, size_t(count));
      continue;
    }
    const void* from[sizeof...(In)];
    constexpr size_t kBytes[sizeof...(In)] = {sizeof(typename In::Element)...};
    for (size_t i = 0; i < sizeof...(In); ++i)
      from[i] = splat >> i & 1 ? src[i] : static_cast<const unsigned char*>(src[i]) + size_t(start) * kBytes[i];
    everywhere(count, out + start, from, splat);
  }
}

template <DType T> TwStripFn findFloatStrip(TwElementwise op) {
  using F = FloatStrips<T>;
  using E = TwElementwise;
  static constexpr StripRow kRows[] = {
      {E::AddF, F::template light2<AddF>},
      {E::SubF, F::template light2<SubF>},
      {E::MulF, F::template light2<MulF>},
      {E::DivF, F::kDivide},
      {E::RemF, F::template heavy2<RemF>},
      {E::MaxNumF, F::template heavy2<MaxNumF>},
      {E::MinNumF, F::template heavy2<MinNumF>},
      {E::MaximumF, F::template heavy2<MaximumF>},
      {E::MinimumF, F::template heavy2<MinimumF>},
      {E::NegF, F::template light1<NegF>},
      {E::AbsF, F::template light1<AbsF>},
      {E::Exp, strip<Exp, F::kLight, typename F::S, typename F::S>},
      {E::Exp2, F::template heavy1<Exp2>},
      {E::Log, F::template heavy1<Log>},
      {E::Log2, F::template heavy1<Log2>},
      {E::Sin, F::template heavy1<Sin>},
      {E::Cos, F::template heavy1<Cos>},
      {E::Sqrt, F::template heavy1<Sqrt>},
      {E::Rsqrt, F::template heavy1<Rsqrt>},
      {E::Erf, F::template heavy1<Erf>},
      {E::Floor, F::template light1<Floor>},
      {E::Ceil, F::template light1<Ceil>},
      {E::Fma, F::template ternary<Fma>},
      {E::ClampF, F::template ternary<ClampF>},
      {E::ClampFPropagateNan, F::template ternary<ClampFPropagateNan>},
      {E::CmpFOEQ, F::template compare<CmpFOEQ>},
      {E::CmpFOGT, F::template compare<CmpFOGT>},
      {E::CmpFOGE, F::template compare<CmpFOGE>},
      {E::CmpFOLT, F::template compare<CmpFOLT>},
      {E::CmpFOLE, F::template compare<CmpFOLE>},
      {E::CmpFONE, F::template compare<CmpFONE>},
      {E::CmpFORD, F::template compare<CmpFORD>},
      {E::CmpFUEQ, F::template compare<CmpFUEQ>},
      {E::CmpFUGT, F::template compare<CmpFUGT>},
      {E::CmpFUGE, F::template compare<CmpFUGE>},
      {E::CmpFULT, F::template compare<CmpFULT>},
      {E::CmpFULE, F::template compare<CmpFULE>},
      {E::CmpFUNE, F::template compare<CmpFUNE>},
      {E::CmpFUNO, F::template compare<CmpFUNO>},
      {E::NonFinite, rarely<T, NonFinite, typename F::S>},
      {E::Born, rarely<T, Born, typename F::S, typename F::S, typename F::S>},
  };
  return findRow(kRows, op);
}

} // namespace tiletwin::tile
