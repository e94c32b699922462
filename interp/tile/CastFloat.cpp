// interp/tile/CastFloat.cpp -- conversions between float formats: every pair, to nearest even or toward zero, rounded
// once.
#include "interp/tile/Casts.h"
#include "interp/tile/Tables.h"

namespace tiletwin::tile {
namespace {

template <DType From, DType To> TwStripFn find(TwCastKind kind) {
  constexpr int L = kLanes<typename Storage<From>::Compute, (From == DType::F64 || To == DType::F64 ? 4 : 2)>;
  if constexpr (To != DType::F64 && (To != DType::F32 || From == DType::F64)) // else nothing is rounded
    if (kind == TwCastKind::TruncateToward0)
      return strip<SameValue, L, FloatResult<To, TwCastKind::TruncateToward0>, Storage<From>>;
  return strip<SameValue, L, FloatResult<To, TwCastKind::SignedInt>, Storage<From>>;
}

} // namespace

TwStripFn findCastFloatToFloat(DType from, DType to, TwCastKind kind) {
  return forTypes(Floats(), from, Floats(), to, [&]<DType From, DType To>() { return find<From, To>(kind); });
}

} // namespace tiletwin::tile
