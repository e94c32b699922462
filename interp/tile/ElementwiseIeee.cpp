// interp/tile/ElementwiseIeee.cpp -- operations whose default form is accurate but not always correctly rounded,
// computed with more precision by the C library and rounded once: narrow formats in f64, f32 in long double, f64 in
// quadruple precision. The spare bits (42, 40 and 60) leave no argument whose result lies too near a middle of two
// numbers.
// Not here:  operations that are correctly rounded already (arithmetic, sqrt, floor, ...), for which the table holds
//            null.
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

// The C library's function for each type that something is computed in.
using std::cos, std::erf, std::exp, std::exp2, std::log, std::log2, std::sin, std::sqrt;
Quad cos(Quad x) { return cosf128(x); }
Quad erf(Quad x) { return erff128(x); }
Quad exp(Quad x) { return expf128(x); }
Quad exp2(Quad x) { return exp2f128(x); }
Quad log(Quad x) { return logf128(x); }
Quad log2(Quad x) { return log2f128(x); }
Quad sin(Quad x) { return sinf128(x); }
Quad sqrt(Quad x) { return sqrtf128(x); }

/// One chunk at a time: elements widened to f64 by a cast strip, computed, rounded back by one (which rounds f64 to any
/// format once).
template <auto Op, DType T, int N> void throughF64(int64_t n, void* dst, const void* const* src, uint32_t splat) {
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
        wide[0][i] = Op(wide[0][i]);
      else
        wide[0][i] = Op(wide[0][i], wide[1][i], wide[2][i]);
    }
    const void* from = wide[0];
    narrow(count, static_cast<uint8_t*>(dst) + start * kBytes, &from, 0);
  }
}
/// Element by element in W, rounded once to T.
template <auto Op, class T, class W> void inWider(int64_t n, void* dst, const void* const* src, uint32_t splat) {
  const auto* x = static_cast<const T*>(src[0]);
  for (int64_t i = 0; i < n; ++i) static_cast<T*>(dst)[i] = T(Op(W(x[splat & 1 ? 0 : i])));
}
template <auto Op, DType T> constexpr TwStripFn unary() {
  if constexpr (T == DType::F32)
    return inWider<Op, float, long double>;
  else if constexpr (T == DType::F64)
    return inWider<Op, double, Quad>;
  else
    return throughF64<Op, T, 1>;
}
template <DType T> constexpr TwStripFn fma() {
  if constexpr (T == DType::F32 || T == DType::F64)
    return nullptr;
  else
    return throughF64<fmaOdd, T, 3>;
}

template <DType T> TwStripFn find(TwElementwise op) {
  using E = TwElementwise;
  static constexpr StripRow kRows[] = {
      {E::Exp, unary<[](auto x) { return exp(x); }, T>()},
      {E::Exp2, unary<[](auto x) { return exp2(x); }, T>()},
      {E::Log, unary<[](auto x) { return log(x); }, T>()},
      {E::Log2, unary<[](auto x) { return log2(x); }, T>()},
      {E::Sin, unary<[](auto x) { return sin(x); }, T>()},
      {E::Cos, unary<[](auto x) { return cos(x); }, T>()},
      {E::Rsqrt, unary<[](auto x) { return decltype(x)(1) / sqrt(x); }, T>()},
      {E::Erf, unary<[](auto x) { return erf(x); }, T>()},
      {E::Fma, fma<T>()},
  };
  return findRow(kRows, op);
}

} // namespace

TwStripFn findElementwiseIeee(TwElementwise op, DType type) {
  return forType(Floats(), type, [&]<DType T>() { return find<T>(op); });
}

} // namespace tiletwin::tile
