// interp/tile/ScanOps.cpp -- running sums, products, extrema and bitwise combinations along an axis, for every element type.
// f16, bf16 and f8 partial results are rounded to their type after every combine; I1 as in ReduceInt.cpp.
#include "interp/tile/Combines.h"
#include "interp/tile/Scan.h"
#include "interp/tile/Tables.h"
#include "interp/tile/TypeLists.h"

namespace tiletwin::tile {
namespace {

template <DType T> TwScanFn findFloat(TwReduce op) {
  using S = Storage<T>;
  constexpr int L = kLanes<typename S::Compute, 1>;
  static constexpr OpRow<TwReduce, TwScanFn> kRows[] = {
      {TwReduce::AddF, Scanner<SumF, S, S, L>::run},
      {TwReduce::MulF, Scanner<ProductF, S, S, L>::run},
      {TwReduce::MaxNumF, Scanner<NumExtremumF<MaxNumF>, S, S, L>::run},
      {TwReduce::MinNumF, Scanner<NumExtremumF<MinNumF>, S, S, L>::run},
      {TwReduce::MaximumF, Scanner<LargestF, S, S, L>::run},
      {TwReduce::MinimumF, Scanner<SmallestF, S, S, L>::run},
  };
  return findRow(kRows, op);
}

} // namespace

TwScanFn findScan(TwReduce op, DType type) {
  if (isFloat(type)) return forType(Floats(), type, [&]<DType T>() { return findFloat<T>(op); });
  return forType(Ints(), type, [&]<DType T>() {
    return findIntCombine<TwScanFn, Scanner, T, kLanes<typename Storage<T>::Compute, 1>>(op);
  });
}

} // namespace tiletwin::tile
