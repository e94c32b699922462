// interp/tile/ReduceFloat.cpp -- sums, products and extrema of floats along an axis.
// f16, bf16 and f8 partial results are rounded to their type after every combine.
#include "interp/tile/Combines.h"
#include "interp/tile/Reduce.h"
#include "interp/tile/Tables.h"
#include "interp/tile/TypeLists.h"

namespace tiletwin::tile {
namespace {

/// f32 and f64 extrema: one max instruction an element. It forgets which zero it saw, and that all were NaN; then the
/// row, or the block of columns, is read again with the full rule.
template <DType T, bool Max>
void fastExtremum(int64_t outer, int64_t axis, int64_t inner, void* dst, const TwRows* src) {
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
  const auto* p = static_cast<const uint8_t*>(src->first);
  auto* out = static_cast<E*>(dst);
  const int64_t there = src->there < axis ? src->there : axis;
  if (inner == 1 && there < L) return Full::run(outer, axis, inner, dst, src);
  if (inner != 1) {
    for (int64_t o = 0; o < outer; ++o, p += src->stride, out += inner) {
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
  const E rest = there < axis ? loadAs<E>(src->rest) : start;
  for (int64_t o = 0; o < outer; ++o, p += src->stride) {
    const auto* row = reinterpret_cast<const E*>(p);
    V best[4] = {V{} + start, V{} + start, V{} + start, better(V{} + rest, V{} + start)};
    int64_t i = 0;
    for (; i + 4 * L <= there; i += 4 * L)
#pragma clang loop unroll(full)
      for (int a = 0; a < 4; ++a) best[a] = better(loadAs<V>(row + i + a * L), best[a]);
    for (; i + L <= there; i += L) best[0] = better(loadAs<V>(row + i), best[0]);
    if (i < there) best[1] = better(loadAs<V>(row + there - L), best[1]); // overlaps: harmless for an extremum
    const V all = better(better(best[0], best[1]), better(best[2], best[3]));
    E r = all[0];
    for (int j = 1; j < L; ++j) r = Max ? (all[j] > r ? all[j] : r) : (all[j] < r ? all[j] : r);
    if (r == start || r == E(0)) r = Full::row(axis, p, *src);
    out[o] = r;
  }
}

template <DType T> struct FloatReduces {
  static constexpr bool kWide = T == DType::F32 || T == DType::F64;
  using S = Storage<T>;
  using Choice = std::conditional_t<kWide, S, ChoiceStorage<T>>;
  static constexpr int L = kLanes<typename S::Compute, (kWide ? 2 : 1)>;
  template <bool Max> static constexpr TwReduceFn number() {
    if constexpr (kWide)
      return fastExtremum<T, Max>;
    else
      return Reducer<NumExtremumF<std::conditional_t<Max, MaxNumF, MinNumF>>, Choice, Choice, L>::run;
  }
};
template <DType T> TwReduceFn find(TwReduce op) {
  using R = FloatReduces<T>;
  using S = typename R::S;
  using Choice = typename R::Choice;
  static constexpr OpRow<TwReduce, TwReduceFn> kRows[] = {
      {TwReduce::AddF, Reducer<SumF, S, S, R::L>::run},
      {TwReduce::MulF, Reducer<ProductF, S, S, R::L>::run},
      {TwReduce::MaxNumF, R::template number<true>()},
      {TwReduce::MinNumF, R::template number<false>()},
      {TwReduce::MaximumF, Reducer<LargestF, Choice, Choice, R::L>::run},
      {TwReduce::MinimumF, Reducer<SmallestF, Choice, Choice, R::L>::run},
  };
  return findRow(kRows, op);
}

} // namespace

TwReduceFn findReduceFloat(TwReduce op, DType type) {
  return forType(Floats(), type, [&]<DType T>() { return find<T>(op); });
}

} // namespace tiletwin::tile
