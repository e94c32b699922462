// interp/tile/DotInt.cpp -- i8 dots with i32 sums (wrap-around).
#include "interp/tile/Dot.h"
#include "interp/tile/DotFloat.h"

namespace tiletwin::tile {
namespace {

/// Rows of a as 16-bit integers; an odd k gets a zero.
void packRows(int64_t P, int64_t Q, void* dst, int64_t dstStride, const void* src, int64_t srcP, int64_t srcQ) {
  const auto* in = static_cast<const int8_t*>(src);
  for (int64_t p = 0; p < P; ++p) {
    auto* row = reinterpret_cast<int16_t*>(static_cast<int32_t*>(dst) + p * dstStride);
    const int8_t* from = in + p * srcP;
    if (srcQ == 1)
      for (int64_t q = 0; q < Q; ++q) row[q] = from[q];
    else
      for (int64_t q = 0; q < Q; ++q) row[q] = from[q * srcQ];
    if (Q & 1) row[Q] = 0;
  }
}
/// A panel of b: pairs of rows, interleaved.
void packPanel(int64_t P, int64_t Q, void* dst, int64_t dstStride, const void* src, int64_t srcP, int64_t srcQ) {
  const auto* in = static_cast<const int8_t*>(src);
  for (int64_t p = 0; p < P; p += 2) {
    auto* pair = reinterpret_cast<int16_t*>(static_cast<int32_t*>(dst) + p / 2 * dstStride);
    const int8_t *even = in + p * srcP, *odd = even + srcP;
    const bool both = p + 1 < P;
    if (both && srcQ == 1)
      for (int64_t q = 0; q < Q; ++q) pair[2 * q] = even[q], pair[2 * q + 1] = odd[q];
    else
      for (int64_t q = 0; q < Q; ++q) pair[2 * q] = even[q * srcQ], pair[2 * q + 1] = both ? odd[q * srcQ] : int8_t(0);
  }
}
void dotI8(const TwDot* t) {
  static constexpr Operands kOperands{packRows, packPanel, 1, 1};
  dotBlocked<KernelI8>(*t, kOperands);
}

} // namespace

TwDotFn findDotI8(DType acc) { return acc == DType::I32 ? dotI8 : nullptr; }

} // namespace tiletwin::tile
