// interp/tile/ElementwiseFloat.h -- the table of float operations, written once and instantiated per float type
// (ElementwiseF32.cpp, ...).
#pragma once
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
  template <class Op> static constexpr TwStripFn compare = strip<Op, kLight, MaskStorage, S, S>;
};

template <DType T> TwStripFn findFloatStrip(TwElementwise op) {
  using F = FloatStrips<T>;
  using E = TwElementwise;
  static constexpr StripRow kRows[] = {
      {E::AddF, F::template light2<AddF>},
      {E::SubF, F::template light2<SubF>},
      {E::MulF, F::template light2<MulF>},
      {E::DivF, F::template light2<DivF>},
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
      {E::NonFinite, strip<NonFinite, F::kLight, MaskStorage, typename F::S>},
      {E::Born, strip<Born, F::kHeavy, MaskStorage, typename F::S, typename F::S, typename F::S>},
  };
  return findRow(kRows, op);
}

} // namespace tiletwin::tile
