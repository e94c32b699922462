// interp/tile/ElementwiseIeee.cpp -- operations whose default form is accurate but not always correctly rounded,
// computed with more precision by the C library and rounded once: f32 and narrower in f64, f64 in long double. Not
// here: operations that are correctly rounded already (arithmetic, sqrt, floor, ...), for which the table holds null.
#include "interp/tile/Casts.h"
#include "interp/tile/Tables.h"
#include <cmath>

namespace tiletwin::tile {
namespace {

/// a*b + c of values whose product is exact in f64, rounded to odd: rounding it again to a narrow format is right.
double fmaOdd(double a, double b, double c) {
  const double product = a * b, sum = product + c;
  if (!(std::fabs(sum) < INFINITY)) return sum;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (c - part);
  uint64_t bits = std::bit_cast<uint64_t>(sum);
  if (error != 0 && !(bits & 1)) {
    const bool outward = (error > 0) == (sum > 0);
    bits = sum == 0 ? bits : outward ? bits + 1 : bits - 1;
  }
  return std::bit_cast<double>(bits);
}

struct IeeeExp {
  template <class W> static W apply(W x) { return std::exp(x); }
};
struct IeeeExp2 {
  template <class W> static W apply(W x) { return std::exp2(x); }
};
struct IeeeLog {
  template <class W> static W apply(W x) { return std::log(x); }
};
struct IeeeLog2 {
  template <class W> static W apply(W x) { return std::log2(x); }
};
struct IeeeSin {
  template <class W> static W apply(W x) { return std::sin(x); }
};
struct IeeeCos {
  template <class W> static W apply(W x) { return std::cos(x); }
};
struct IeeeRsqrt {
  template <class W> static W apply(W x) { return W(1) / std::sqrt(x); }
};
struct IeeeErf {
  template <class W> static W apply(W x) { return std::erf(x); }
};
struct IeeeFma {
  template <class W> static W apply(W a, W b, W c) { return fmaOdd(a, b, c); }
};

/// One chunk at a time: elements widened to f64 by a cast strip, computed, rounded back by one (which rounds f64 to any
/// format once).
template <class Op, DType T, int N> void throughF64(int64_t n, void* dst, const void* const* src, uint32_t splat) {
  static constinit std::atomic<TwStripFn> widenSlot{nullptr}, narrowSlot{nullptr};
  const TwStripFn widen =
      lookedUpOnce(widenSlot, [] { return findCastFloatToFloat(T, DType::F64, TwCastKind::SignedInt); });
  const TwStripFn narrow =
      lookedUpOnce(narrowSlot, [] { return findCastFloatToFloat(DType::F64, T, TwCastKind::SignedInt); });
  constexpr int64_t kChunk = 256, kBytes = sizeof(typename Storage<T>::Element);
  double wide[N][kChunk];
  for (int64_t start = 0; start < n; start += kChunk) {
    const int64_t count = n - start < kChunk ? n - start : kChunk;
    for (int i = 0; i < N; ++i) {
      const void* from = static_cast<const uint8_t*>(src[i]) + (splat >> i & 1 ? 0 : start * kBytes);
      widen(count, wide[i], &from, splat >> i & 1);
    }
    for (int64_t i = 0; i < count; ++i) {
      if constexpr (N == 1)
        wide[0][i] = Op::apply(wide[0][i]);
      else
        wide[0][i] = Op::apply(wide[0][i], wide[1][i], wide[2][i]);
    }
    const void* from = wide[0];
    narrow(count, static_cast<uint8_t*>(dst) + start * kBytes, &from, 0);
  }
}
template <class Op> void inLongDouble(int64_t n, void* dst, const void* const* src, uint32_t splat) {
  const auto* x = static_cast<const double*>(src[0]);
  for (int64_t i = 0; i < n; ++i)
    static_cast<double*>(dst)[i] = double(Op::apply(static_cast<long double>(x[splat & 1 ? 0 : i])));
}

template <DType T> TwStripFn find(TwElementwise op) {
  using E = TwElementwise;
  constexpr bool kNarrow = kIsNarrowFloat<T>;
  static constexpr StripRow kRows[] = {
      {E::Exp, throughF64<IeeeExp, T, 1>},
      {E::Exp2, throughF64<IeeeExp2, T, 1>},
      {E::Log, throughF64<IeeeLog, T, 1>},
      {E::Log2, throughF64<IeeeLog2, T, 1>},
      {E::Sin, throughF64<IeeeSin, T, 1>},
      {E::Cos, throughF64<IeeeCos, T, 1>},
      {E::Rsqrt, throughF64<IeeeRsqrt, T, 1>},
      {E::Erf, throughF64<IeeeErf, T, 1>},
      {E::Fma, kNarrow ? throughF64<IeeeFma, T, 3> : nullptr},
  };
  return findRow(kRows, op);
}
TwStripFn findF64(TwElementwise op) {
  using E = TwElementwise;
  static constexpr StripRow kRows[] = {
      {E::Exp, inLongDouble<IeeeExp>},     {E::Exp2, inLongDouble<IeeeExp2>}, {E::Log, inLongDouble<IeeeLog>},
      {E::Log2, inLongDouble<IeeeLog2>},   {E::Sin, inLongDouble<IeeeSin>},   {E::Cos, inLongDouble<IeeeCos>},
      {E::Rsqrt, inLongDouble<IeeeRsqrt>}, {E::Erf, inLongDouble<IeeeErf>},
  };
  return findRow(kRows, op);
}

} // namespace

TwStripFn findElementwiseIeee(TwElementwise op, DType type) {
  switch (type) {
  case DType::F8E5M2: return find<DType::F8E5M2>(op);
  case DType::F8E4M3FN: return find<DType::F8E4M3FN>(op);
  case DType::F8E4M3B11FNUZ: return find<DType::F8E4M3B11FNUZ>(op);
  case DType::F8E5M2FNUZ: return find<DType::F8E5M2FNUZ>(op);
  case DType::F8E4M3FNUZ: return find<DType::F8E4M3FNUZ>(op);
  case DType::F16: return find<DType::F16>(op);
  case DType::BF16: return find<DType::BF16>(op);
  case DType::F32: return find<DType::F32>(op);
  case DType::F64: return findF64(op);
  default: return nullptr;
  }
}

} // namespace tiletwin::tile
