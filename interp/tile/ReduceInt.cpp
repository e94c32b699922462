// interp/tile/ReduceInt.cpp -- sums, products, extrema and bitwise reductions of integers along an axis, in wrap-around
// arithmetic. I1 lanes hold 0 or 1; signed extrema read 1 as -1; results are reduced to their last bit.
#include "interp/tile/Combines.h"
#include "interp/tile/Reduce.h"
#include "interp/tile/Tables.h"

namespace tiletwin::tile {
namespace {

template <DType T> TwReduceFn find(TwReduce op) {
  using C = typename Storage<T>::Compute;
  constexpr int L = kLanes<C, (sizeof(C) == 1 ? 1 : 2)>;
  using I = IntCombines<T>;
  using U = CombineLanes<T, false>;
  using S = CombineLanes<T, true>;
  static constexpr ReduceRow kRows[] = {
      {TwReduce::AddI, Reducer<typename I::Add, U, U, L>::run},
      {TwReduce::MulI, Reducer<typename I::Mul, U, U, L>::run},
      {TwReduce::MaxSI, Reducer<typename I::MaxS, S, S, L>::run},
      {TwReduce::MaxUI, Reducer<typename I::MaxU, U, U, L>::run},
      {TwReduce::MinSI, Reducer<typename I::MinS, S, S, L>::run},
      {TwReduce::MinUI, Reducer<typename I::MinU, U, U, L>::run},
      {TwReduce::AndI, Reducer<typename I::And, U, U, L>::run},
      {TwReduce::OrI, Reducer<typename I::Or, U, U, L>::run},
      {TwReduce::XorI, Reducer<typename I::Xor, U, U, L>::run},
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
