// interp/tile/ReduceFloat.cpp -- sums, products and extrema of floats along an axis.
// f16, bf16 and f8 partial results are rounded to their type after every combine.
#include "interp/tile/Combines.h"
#include "interp/tile/Reduce.h"
#include "interp/tile/Tables.h"

namespace tiletwin::tile {
namespace {

/// f32 and f64 extrema: one max instruction an element. It forgets which zero it saw, and that all were NaN; then the
/// row, or the block of columns, is read again with the full rule.
template <DType T, bool Max>
void fastExtremum(int64_t outer, int64_t axis, int64_t inner, void* dst, const void* src, int64_t rowStride) {
  using S = Storage<T>;
  using E = typename S::Compute;
  constexpr int L = kLanes<E, 1>;
  using Full = Reducer<NumExtremumF<std::conditional_t<Max, MaxNumF, MinNumF>>, S, S, L>;
  using V = Vec<E, L>;
  const E start = E(Max ? -__builtin_inf() : __builtin_inf());
  const auto better = [](V x, V best) __attribute__((always_inline)) { // a NaN x leaves best
    if constexpr (Max)
      return x > best ? x : best;
    else
      return x < best ? x : best;
  };
  const auto* p = static_cast<const uint8_t*>(src);
  auto* out = static_cast<E*>(dst);
  if (inner == 1 && axis < L) return Full::run(outer, axis, inner, dst, src, rowStride);
  if (inner != 1) {
    for (int64_t o = 0; o < outer; ++o, p += rowStride, out += inner) {
      const auto* tile = reinterpret_cast<const E*>(p);
      int64_t i = 0;
      for (; i + 4 * L <= inner; i += 4 * L) {
        V best[4] = {V{} + start, V{} + start, V{} + start, V{} + start};
        for (int64_t a = 0; a < axis; ++a)
#pragma clang loop unroll(full)
          for (int j = 0; j < 4; ++j) best[j] = better(loadAs<V>(tile + a * inner + i + j * L), best[j]);
#pragma clang loop unroll(full)
        for (int j = 0; j < 4; ++j) {
          if (anyLane((best[j] == start) | (best[j] == E(0))))
            Full::column(axis, reinterpret_cast<uint8_t*>(out + i + j * L),
                         reinterpret_cast<const uint8_t*>(tile + i + j * L), inner * int64_t(sizeof(E)));
          else
            storeAs(out + i + j * L, best[j]);
        }
      }
      if (i < inner) Full::columns(axis, i, inner, reinterpret_cast<uint8_t*>(out), p);
    }
    return;
  }
  for (int64_t o = 0; o < outer; ++o, p += rowStride) {
    const auto* row = reinterpret_cast<const E*>(p);
    V best[4] = {V{} + start, V{} + start, V{} + start, V{} + start};
    int64_t i = 0;
    for (; i + 4 * L <= axis; i += 4 * L)
#pragma clang loop unroll(full)
      for (int a = 0; a < 4; ++a) best[a] = better(loadAs<V>(row + i + a * L), best[a]);
    for (; i + L <= axis; i += L) best[0] = better(loadAs<V>(row + i), best[0]);
    if (i < axis) best[1] = better(loadAs<V>(row + axis - L), best[1]); // overlaps: harmless for an extremum
    const V all = better(better(best[0], best[1]), better(best[2], best[3]));
    E r = all[0];
    for (int j = 1; j < L; ++j) r = Max ? (all[j] > r ? all[j] : r) : (all[j] < r ? all[j] : r);
    if (r == start || r == E(0)) r = Full::row(axis, p);
    out[o] = r;
  }
}

template <DType T> struct FloatReduces {
  static constexpr bool kWide = T == DType::F32 || T == DType::F64;
  using S = Storage<T>;
  using Choice = std::conditional_t<kWide, S, ChoiceStorage<T>>;
  static constexpr int kLanesAtOnce = kLanes<typename S::Compute, (kWide ? 2 : 1)>;
  template <class C> static constexpr TwReduceFn of = Reducer<C, S, S, kLanesAtOnce>::run;
  template <class C> static constexpr TwReduceFn extremum = Reducer<C, Choice, Choice, kLanesAtOnce>::run;
};
template <DType T> TwReduceFn find(TwReduce op) {
  using R = FloatReduces<T>;
  constexpr bool kFast = T == DType::F32 || T == DType::F64;
  static constexpr ReduceRow kRows[] = {
      {TwReduce::AddF, R::template of<SumF>},
      {TwReduce::MulF, R::template of<ProductF>},
      {TwReduce::MaxNumF,
       [] {
         if constexpr (kFast)
           return fastExtremum<T, true>;
         else
           return R::template extremum<NumExtremumF<MaxNumF>>;
       }()},
      {TwReduce::MinNumF,
       [] {
         if constexpr (kFast)
           return fastExtremum<T, false>;
         else
           return R::template extremum<NumExtremumF<MinNumF>>;
       }()},
      {TwReduce::MaximumF, R::template extremum<LargestF>},
      {TwReduce::MinimumF, R::template extremum<SmallestF>},
  };
  return findReduceRow(kRows, op);
}

} // namespace

TwReduceFn findReduceFloat(TwReduce op, DType type) {
  switch (type) {
  case DType::F8E5M2: return find<DType::F8E5M2>(op);
  case DType::F8E4M3FN: return find<DType::F8E4M3FN>(op);
  case DType::F8E4M3B11FNUZ: return find<DType::F8E4M3B11FNUZ>(op);
  case DType::F8E5M2FNUZ: return find<DType::F8E5M2FNUZ>(op);
  case DType::F8E4M3FNUZ: return find<DType::F8E4M3FNUZ>(op);
  case DType::F16: return find<DType::F16>(op);
  case DType::BF16: return find<DType::BF16>(op);
  case DType::F32: return find<DType::F32>(op);
  case DType::F64: return find<DType::F64>(op);
  default: return nullptr;
  }
}

} // namespace tiletwin::tile
