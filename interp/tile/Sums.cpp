// interp/tile/Sums.cpp -- sums along rows of f32 numbers that are computed on the way: widened f16 and bf16, products.
// Not here:  sums of what lies in memory as it is (ReduceFloat.cpp), when a sum takes over what it adds (plan/Sums.cpp).
// Invariant: the bits are those of the operations one after the other: each rounds, and the order is the same.
#include "interp/tile/Combines.h"
#include "interp/tile/Reduce.h"
#include "interp/tile/Tables.h"
#include <algorithm>

namespace tiletwin::tile {
namespace {

constexpr int L = kLanes<float, 2>; // as the sum of stored numbers: ReduceFloat.cpp
using Sum = Reducer<SumF, Storage<DType::F32>, Storage<DType::F32>, L>;
using V = Vec<float, L>;

template <DType A> struct Widened {
  using S = Storage<A>;
  using E = typename S::Element;
  const uint8_t* a;
  int64_t there;
  const void* rest;
  Widened(const TwRows& rows, int64_t row)
      : a(static_cast<const uint8_t*>(rows.first) + row * rows.stride), there(rows.there), rest(rows.rest) {}
  int64_t same() const { return there; }
  TILETWIN_INLINE V at(int64_t i) const { return S::template load<L>(a + i * int64_t(sizeof(E))); }
  V padded(int64_t i, int64_t count) const {
    alignas(64) E pad[L] = {};
    copyRow<E>(pad, a + i * int64_t(sizeof(E)), count, there - i, rest);
    return S::template load<L>(pad);
  }
};

template <DType A> struct SummedRow : Widened<A> {
  using Widened<A>::Widened;
  [[gnu::noinline]] V first(int64_t i, int64_t count) const { return upTo(count, this->padded(i, count)); }
  /// The first elements; the identity elsewhere.
  static V upTo(int64_t count, V v) {
    alignas(64) float filled[L];
    storeAs(filled, broadcast<float, L>(SumF::identity<float>()));
    copyTail(filled, &v, count, sizeof(float));
    return loadAs<V>(filled);
  }
};

template <DType A, DType B> struct ProductRow {
  Widened<A> a;
  Widened<B> b;
  int64_t there;
  ProductRow(const TwRows& x, const TwRows& y, int64_t row) : a(x, row), b(y, row), there(std::min(x.there, y.there)) {}
  int64_t same() const { return std::max(a.there, b.there); }
  TILETWIN_INLINE V at(int64_t i) const { return a.at(i) * b.at(i); }
  [[gnu::noinline]] V first(int64_t i, int64_t count) const {
    return SummedRow<DType::F32>::upTo(count, a.padded(i, count) * b.padded(i, count));
  }
};

/// Squares of differences inside of a range; zeros elsewhere.
template <DType A> struct SquareRow {
  Widened<A> a;
  float minus;
  int64_t lo, hi, ahead, there, equal;
  SquareRow(int64_t axis, const TwRows& rows, const TwDifferences& d)
      : a(rows, 0), minus(d.minus), lo(d.lo), hi(d.hi), ahead(d.ahead), there(lo > 0 ? 0 : std::min(a.there, hi)),
        equal(hi < axis ? hi : std::max(a.there, lo)) {}
  int64_t same() const { return equal; }
  static TILETWIN_INLINE V square(V v) { return v * v; }
  TILETWIN_INLINE V at(int64_t i) const {
    constexpr int64_t kBytes = sizeof(typename Widened<A>::E);
    for (int64_t line = 0; line < L * kBytes; line += 64) __builtin_prefetch(a.a + i * kBytes + ahead + line, 0, 2);
    return square(a.at(i) - minus);
  }
  [[gnu::noinline]] V first(int64_t i, int64_t count) const {
    alignas(64) float terms[L];
    storeAs(terms, square(a.padded(i, count) - minus));
    for (int64_t j = 0; j < L; ++j) terms[j] = i + j < lo || i + j >= hi ? 0 : terms[j];
    return SummedRow<DType::F32>::upTo(count, loadAs<V>(terms));
  }
};

template <DType A> void sumsOfSquares(int64_t axis, float* dst, const TwRows* a, const TwDifferences* d) {
  *dst = Sum::fold(axis, SquareRow<A>(axis, *a, *d));
}

template <DType A> void sums(int64_t outer, int64_t axis, float* dst, const TwRows* a, const TwRows*) {
  for (int64_t o = 0; o < outer; ++o) dst[o] = Sum::fold(axis, SummedRow<A>(*a, o));
}
template <DType A, DType B>
void sumsOfProducts(int64_t outer, int64_t axis, float* dst, const TwRows* a, const TwRows* b) {
  for (int64_t o = 0; o < outer; ++o) dst[o] = Sum::fold(axis, ProductRow<A, B>(*a, *b, o));
}

template <DType A> TwSumFn ofProducts(DType b) {
  if (b == DType::F32) return sumsOfProducts<A, DType::F32>;
  if (b == DType::F16) return sumsOfProducts<A, DType::F16>;
  return b == DType::BF16 ? sumsOfProducts<A, DType::BF16> : nullptr;
}

} // namespace

TwSumFn findSumOf(DType a) {
  if (a == DType::F16) return sums<DType::F16>;
  return a == DType::BF16 ? sums<DType::BF16> : nullptr;
}

TwSumFn findSumOfProducts(DType a, DType b) {
  if (a == DType::F32) return ofProducts<DType::F32>(b);
  if (a == DType::F16) return ofProducts<DType::F16>(b);
  return a == DType::BF16 ? ofProducts<DType::BF16>(b) : nullptr;
}

TwSquaresFn findSumOfSquares(DType a) {
  if (a == DType::F32) return sumsOfSquares<DType::F32>;
  if (a == DType::F16) return sumsOfSquares<DType::F16>;
  return a == DType::BF16 ? sumsOfSquares<DType::BF16> : nullptr;
}

} // namespace tiletwin::tile
