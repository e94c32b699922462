// interp/tile/DotFloat.h -- dots of float operands: F32 sums (F16 accumulators rounded once at the end) or, for ieee,
// F64 sums.
#pragma once
#include "interp/tile/DotPack.h"
#include "interp/tile/Strip.h"
#include "interp/tile/Tables.h"

namespace tiletwin::tile {

/// Operand types A, B; accumulator Acc; Work = float or double is what products are summed in; Tf32: f32 operands
/// truncated.
template <DType A, DType B, DType Acc, class Work, bool Tf32 = false> void dotFloat(const TwDot* t) {
  using Kernel = FloatKernel<Work>;
  constexpr DType kSum = std::is_same_v<Work, double> ? DType::F64 : DType::F32;
  static constexpr Operands kOperands{pack<OperandSource<A, Work, Tf32>, Work>,
                                      pack<OperandSource<B, Work, Tf32>, Work>, int64_t(sizeOf(A)), int64_t(sizeOf(B))};
  if constexpr (Acc == kSum) {
    dotBlocked<Kernel>(*t, kOperands);
  } else {
    static constinit std::atomic<TwStripFn> toSlot{nullptr}, fromSlot{nullptr};
    const TwStripFn toSum = lookedUpOnce(toSlot, [] { return findCastFloatToFloat(Acc, kSum, TwCastKind::SignedInt); });
    const TwStripFn fromSum =
        lookedUpOnce(fromSlot, [] { return findCastFloatToFloat(kSum, Acc, TwCastKind::SignedInt); });
    dotThroughTile<Kernel>(*t, kOperands, toSum, fromSum, int64_t(sizeOf(Acc)));
  }
}

/// The functions of one pair of narrow operand types.
template <DType A, DType B> TwDotFn findNarrowDot(DType acc, bool ieee) {
  switch (acc) {
  case DType::F32: return ieee ? dotFloat<A, B, DType::F32, double> : dotFloat<A, B, DType::F32, float>;
  case DType::F16: return ieee ? dotFloat<A, B, DType::F16, double> : dotFloat<A, B, DType::F16, float>;
  default: return nullptr;
  }
}

extern template void dotBlocked<KernelF32>(const TwDot&, const Operands&);
extern template void dotBlocked<KernelF64>(const TwDot&, const Operands&);

TwDotFn findDotF8(DType a, DType b, DType acc, bool ieee);
TwDotFn findDotI8(DType acc);

} // namespace tiletwin::tile
