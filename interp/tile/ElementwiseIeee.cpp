// interp/tile/ElementwiseIeee.cpp -- operations whose default form is accurate but not always correctly rounded,
// computed with more precision by the C library and rounded once: narrow formats in f64, f32 in long double, f64 in
// quadruple precision. The spare bits (42, 40 and 60) leave no argument whose result lies too near a middle of two numbers.
// Not here: operations that are correctly rounded already (arithmetic, sqrt, floor, ...), for which the table holds null.
#include "interp/tile/Casts.h"
#include "interp/tile/Tables.h"
#include <cmath>

// Quadruple precision, of the C library; its header hides these from Clang.
extern "C" {
__float128 cosf128(__float128);
__float128 erff128(__float128);
__float128 exp2f128(__float128);
__float128 expf128(__float128);
__float128 log2f128(__float128);
__float128 logf128(__float128);
__float128 sinf128(__float128);
__float128 sqrtf128(__float128);
}

namespace tiletwin::tile {
namespace {

using Quad = __float128;

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
  static Quad apply(Quad x) { return expf128(x); }
};
struct IeeeExp2 {
  template <class W> static W apply(W x) { return std::exp2(x); }
  static Quad apply(Quad x) { return exp2f128(x); }
};
struct IeeeLog {
  template <class W> static W apply(W x) { return std::log(x); }
  static Quad apply(Quad x) { return logf128(x); }
};
struct IeeeLog2 {
  template <class W> static W apply(W x) { return std::log2(x); }
  static Quad apply(Quad x) { return log2f128(x); }
};
struct IeeeSin {
  template <class W> static W apply(W x) { return std::sin(x); }
  static Quad apply(Quad x) { return sinf128(x); }
};
struct IeeeCos {
  template <class W> static W apply(W x) { return std::cos(x); }
  static Quad apply(Quad x) { return cosf128(x); }
};
struct IeeeRsqrt {
  template <class W> static W apply(W x) { return W(1) / std::sqrt(x); }
  static Quad apply(Quad x) { return 1 / sqrtf128(x); }
};
struct IeeeErf {
  template <class W> static W apply(W x) { return std::erf(x); }
  static Quad apply(Quad x) { return erff128(x); }
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
/// Element by element in W, rounded once to T.
template <class Op, class T, class W> void inWider(int64_t n, void* dst, const void* const* src, uint32_t splat) {
  const auto* x = static_cast<const T*>(src[0]);
  for (int64_t i = 0; i < n; ++i) static_cast<T*>(dst)[i] = T(Op::apply(W(x[splat & 1 ? 0 : i])));
}

template <DType T> TwStripFn find(TwElementwise op) {
  using E = TwElementwise;
  static constexpr StripRow kRows[] = {
      {E::Exp, throughF64<IeeeExp, T, 1>},     {E::Exp2, throughF64<IeeeExp2, T, 1>},
      {E::Log, throughF64<IeeeLog, T, 1>},     {E::Log2, throughF64<IeeeLog2, T, 1>},
      {E::Sin, throughF64<IeeeSin, T, 1>},     {E::Cos, throughF64<IeeeCos, T, 1>},
      {E::Rsqrt, throughF64<IeeeRsqrt, T, 1>}, {E::Erf, throughF64<IeeeErf, T, 1>},
      {E::Fma, throughF64<IeeeFma, T, 3>},
  };
  return findRow(kRows, op);
}
/// T in W.
template <class T, class W> TwStripFn findWide(TwElementwise op) {
  using E = TwElementwise;
  static constexpr StripRow kRows[] = {
      {E::Exp, inWider<IeeeExp, T, W>},     {E::Exp2, inWider<IeeeExp2, T, W>}, {E::Log, inWider<IeeeLog, T, W>},
      {E::Log2, inWider<IeeeLog2, T, W>},   {E::Sin, inWider<IeeeSin, T, W>},   {E::Cos, inWider<IeeeCos, T, W>},
      {E::Rsqrt, inWider<IeeeRsqrt, T, W>}, {E::Erf, inWider<IeeeErf, T, W>},
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
  case DType::F32: return findWide<float, long double>(op);
  case DType::F64: return findWide<double, Quad>(op);
  default: return nullptr;
  }
}

} // namespace tiletwin::tile
