// interp/tile/Sums.cpp -- sums along rows of f32 numbers that are computed on the way: widened f16 and bf16, products.
// Not here:  sums of what lies in memory as it is (ReduceFloat.cpp), when a sum takes over what it adds (plan/Sums.cpp).
// Invariant: the bits are those of the operations one after the other: each rounds, and the order is the same.
#include "interp/tile/Combines.h"
#include "interp/tile/Reduce.h"
#include "interp/tile/Tables.h"

namespace tiletwin::tile {
namespace {

constexpr int L = kLanes<float, 2>; // as the sum of stored numbers: ReduceFloat.cpp
using Sum = Reducer<SumF, Storage<DType::F32>, Storage<DType::F32>, L>;
using V = Vec<float, L>;

template <DType A> struct Widened {
  using S = Storage<A>;
  static constexpr int64_t kBytes = sizeof(typename S::Element);
  const uint8_t* a;
  TILETWIN_INLINE V at(int64_t i) const { return S::template load<L>(a + i * kBytes); }
  V padded(int64_t i, int64_t count) const {
    alignas(64) uint8_t pad[L * 4] = {};
    copyTail(pad, a + i * kBytes, count, kBytes);
    return S::template load<L>(pad);
  }
};

template <DType A> struct SummedRow : Widened<A> {
  V first(int64_t i, int64_t count) const { return upTo(count, this->padded(i, count)); }
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
  TILETWIN_INLINE V at(int64_t i) const { return a.at(i) * b.at(i); }
  V first(int64_t i, int64_t count) const {
    return SummedRow<DType::F32>::upTo(count, a.padded(i, count) * b.padded(i, count));
  }
};

template <DType A> void sums(int64_t outer, int64_t axis, float* dst, const TwRows* a, const TwRows*) {
  const auto* p = static_cast<const uint8_t*>(a->first);
  for (int64_t o = 0; o < outer; ++o, p += a->stride) dst[o] = Sum::fold(axis, SummedRow<A>{{p}});
}
template <DType A, DType B>
void sumsOfProducts(int64_t outer, int64_t axis, float* dst, const TwRows* a, const TwRows* b) {
  const auto *p = static_cast<const uint8_t*>(a->first), *q = static_cast<const uint8_t*>(b->first);
  for (int64_t o = 0; o < outer; ++o, p += a->stride, q += b->stride)
    dst[o] = Sum::fold(axis, ProductRow<A, B>{{p}, {q}});
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

} // namespace tiletwin::tile
