// interp/tile/ScanOps.cpp -- running sums, products, extrema and bitwise combinations along an axis, for every element type.
// f16, bf16 and f8 partial results are rounded to their type after every combine; I1 as in ReduceInt.cpp.
#include "interp/tile/Combines.h"
#include "interp/tile/Scan.h"
#include "interp/tile/Tables.h"

namespace tiletwin::tile {
namespace {

struct ScanRow {
  TwReduce op;
  TwScanFn fn;
};
template <size_t N> TwScanFn findScanRow(const ScanRow (&rows)[N], TwReduce op) {
  for (const ScanRow& row : rows)
    if (row.op == op) return row.fn;
  return nullptr;
}

template <DType T> TwScanFn findInt(TwReduce op) {
  using C = IntCombines<T>;
  constexpr int L = kLanes<typename Storage<T>::Compute, 1>;
  using U = CombineLanes<T, false>;
  using S = CombineLanes<T, true>;
  static constexpr ScanRow kRows[] = {
      {TwReduce::AddI, Scanner<typename C::Add, U, U, L>::run},
      {TwReduce::MulI, Scanner<typename C::Mul, U, U, L>::run},
      {TwReduce::MaxSI, Scanner<typename C::MaxS, S, S, L>::run},
      {TwReduce::MaxUI, Scanner<typename C::MaxU, U, U, L>::run},
      {TwReduce::MinSI, Scanner<typename C::MinS, S, S, L>::run},
      {TwReduce::MinUI, Scanner<typename C::MinU, U, U, L>::run},
      {TwReduce::AndI, Scanner<typename C::And, U, U, L>::run},
      {TwReduce::OrI, Scanner<typename C::Or, U, U, L>::run},
      {TwReduce::XorI, Scanner<typename C::Xor, U, U, L>::run},
  };
  return findScanRow(kRows, op);
}

template <DType T> TwScanFn findFloat(TwReduce op) {
  using S = Storage<T>;
  constexpr int L = kLanes<typename S::Compute, 1>;
  static constexpr ScanRow kRows[] = {
      {TwReduce::AddF, Scanner<SumF, S, S, L>::run},
      {TwReduce::MulF, Scanner<ProductF, S, S, L>::run},
      {TwReduce::MaxNumF, Scanner<NumExtremumF<MaxNumF>, S, S, L>::run},
      {TwReduce::MinNumF, Scanner<NumExtremumF<MinNumF>, S, S, L>::run},
      {TwReduce::MaximumF, Scanner<LargestF, S, S, L>::run},
      {TwReduce::MinimumF, Scanner<SmallestF, S, S, L>::run},
  };
  return findScanRow(kRows, op);
}

} // namespace

TwScanFn findScan(TwReduce op, DType type) {
  switch (type) {
  case DType::I1: return findInt<DType::I1>(op);
  case DType::I8: return findInt<DType::I8>(op);
  case DType::I16: return findInt<DType::I16>(op);
  case DType::I32: return findInt<DType::I32>(op);
  case DType::I64: return findInt<DType::I64>(op);
  case DType::F8E5M2: return findFloat<DType::F8E5M2>(op);
  case DType::F8E4M3FN: return findFloat<DType::F8E4M3FN>(op);
  case DType::F8E4M3B11FNUZ: return findFloat<DType::F8E4M3B11FNUZ>(op);
  case DType::F8E5M2FNUZ: return findFloat<DType::F8E5M2FNUZ>(op);
  case DType::F8E4M3FNUZ: return findFloat<DType::F8E4M3FNUZ>(op);
  case DType::F16: return findFloat<DType::F16>(op);
  case DType::BF16: return findFloat<DType::BF16>(op);
  case DType::F32: return findFloat<DType::F32>(op);
  case DType::F64: return findFloat<DType::F64>(op);
  default: return nullptr;
  }
}

} // namespace tiletwin::tile
