// interp/tile/CastFloat.cpp -- conversions between float formats: every pair, to nearest even or toward zero, rounded
// once.
#include "interp/tile/Casts.h"
#include "interp/tile/Tables.h"

namespace tiletwin::tile {
namespace {

template <DType From, DType To, TwCastKind Kind> constexpr TwStripFn castFloat() {
  constexpr int L = kLanes<typename Storage<From>::Compute, (From == DType::F64 || To == DType::F64 ? 4 : 2)>;
  return strip<SameValue, L, FloatResult<To, Kind>, Storage<From>>;
}
/// Both kinds of rounding of one pair; they differ only when the destination is narrower.
struct Pair {
  TwStripFn nearest, towardZero;
};
template <int I> constexpr Pair pairOf() {
  constexpr DType kFrom = kFloats[I / kFloatCount], kTo = kFloats[I % kFloatCount];
  constexpr TwStripFn nearest = castFloat<kFrom, kTo, TwCastKind::SignedInt>();
  if constexpr (kTo == DType::F64 || (kTo == DType::F32 && kFrom != DType::F64))
    return {nearest, nearest};
  else
    return {nearest, castFloat<kFrom, kTo, TwCastKind::TruncateToward0>()};
}
template <size_t... I> constexpr auto table(std::index_sequence<I...>) {
  return std::array<Pair, sizeof...(I)>{pairOf<int(I)>()...};
}

} // namespace

TwStripFn findCastFloatToFloat(DType from, DType to, TwCastKind kind) {
  static constexpr auto kTable = table(std::make_index_sequence<kFloatCount * kFloatCount>{});
  const int f = indexOf(kFloats, from), t = indexOf(kFloats, to);
  if (f < 0 || t < 0) return nullptr;
  const Pair& pair = kTable[size_t(f * kFloatCount + t)];
  return kind == TwCastKind::TruncateToward0 ? pair.towardZero : pair.nearest;
}

} // namespace tiletwin::tile
