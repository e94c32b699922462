// interp/tile/DivideBySplat.h -- many quotients by one divisor, without a division each: rows over their sum, and the like.
// Here:      quotients from the reciprocal, and when they may be had that way.     Not here:  division in general (Functors.h).
// Invariant: every quotient is the correctly rounded one, as the hardware's division gives it.
#pragma once
#include "interp/tile/MathFunctions.h"
#include "interp/tile/Strip.h"

namespace tiletwin::tile {

/// Magnitudes between which nothing here overflows or loses bits: quotients stay above 2^-121, remainders above 2^-149.
inline constexpr float kSmallestDivided = 0x1p-60f, kLargestDivided = 0x1p60f;

/// a / b from r = 1 / b, correctly rounded. The remainder of the first quotient is exact, and with r correctly rounded its
/// quotient corrects the first one to the last bit (P. Markstein, IA-64 and Elementary Functions, 2000; N. Brisebarre,
/// J.-M. Muller, S. K. Raina, IEEE Transactions on Computers 53(8), 2004). Zeros, infinities, NaNs and what is out of range
/// are divided.
struct DivideFromReciprocal {
  template <class V> static TILETWIN_INLINE V apply(V a, V b, V r) {
    using U = Vec<uint32_t, kLanesF>;
    constexpr uint32_t kFirst = std::bit_cast<uint32_t>(kSmallestDivided),
                       kLast = std::bit_cast<uint32_t>(kLargestDivided);
    const auto offsets = split<U>(((Vec<uint32_t, kLanesOf<V>>)a & 0x7FFFFFFFu) - kFirst);
    U largest = offsets.part[0];
    for (int i = 1; i < int(sizeof(V) / sizeof(U)); ++i) largest = __builtin_elementwise_max(largest, offsets.part[i]);
    if (anyLane(largest > kLast - kFirst)) [[unlikely]]
      return a / b;
    const V q = a * r;
    return fusedMultiplyAdd(fusedMultiplyAdd(-q, b, a), r, q);
  }
};

/// a[i] / b[i] of a type that computes in f32: a strip function.
template <class S, int L> void divide(int64_t n, void* dst, const void* const* src, uint32_t splat) {
  if ((splat & 3) == 2 && n >= L) { // the divisor alone is one element
    using E = typename S::Element;
    const Vec<E, 8> divisors = broadcast<E, 8>(loadAs<E>(src[1]));
    const float b = S::template load<8>(&divisors)[0], magnitude = b < 0 ? -b : b;
    if (magnitude >= kSmallestDivided && magnitude <= kLargestDivided) { // no NaN is
      const float r = 1.f / b;
      const void* const operands[3] = {src[0], src[1], &r};
      return strip<DivideFromReciprocal, L, S, S, S, PlainStorage<float>>(n, dst, operands, splat | 4);
    }
  }
  strip<OnPackets<DivF>, L, S, S, S>(n, dst, src, splat);
}

} // namespace tiletwin::tile
