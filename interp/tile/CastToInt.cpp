// interp/tile/CastToInt.cpp -- float to integer: truncated toward zero and saturated at 16, 32 or 64 bits; an 8-bit
// result is the low half of the 16-bit one. NaN: 0, but the sign-bit pattern of those bits if the source or the
// destination has 64. To I1: != 0 (NaN is true).
#include "interp/tile/Casts.h"
#include "interp/tile/Tables.h"

namespace tiletwin::tile {
namespace {

/// `Signed` says how the saturated integer is read; the result keeps its low bits.
template <DType To, bool Signed> struct SaturatedResult {
  using Element = typename Storage<To>::Element;
  template <int L, class V> static TILETWIN_INLINE void store(void* p, V v) {
    constexpr bool kFromF64 = std::is_same_v<LaneOf<V>, double>;
    if constexpr (To == DType::I1) {
      MaskStorage::store<L>(p, v != LaneOf<V>(0));
    } else if constexpr (To == DType::I64) {
      Vec<uint64_t, L> out;
      for (int i = 0; i < L; ++i) out[i] = saturate64(double(v[i]));
      storeAs(p, out);
    } else {
      // An f64 holds every 32-bit integer: clamp there, convert through the low bits of x + 2^52.
      using D = Vec<double, L>;
      constexpr double kRange = sizeof(Element) == 4 ? 0x1p32 : 0x1p16;
      const D low = D{} + (Signed ? -kRange / 2 : 0.0), high = D{} + (Signed ? kRange / 2 - 1 : kRange - 1);
      const D wide = __builtin_convertvector(v, D);
      D x = __builtin_elementwise_trunc(wide);
      x = x > low ? x : low; // a NaN becomes the low end here and is replaced below
      x = x < high ? x : high;
      auto bits = __builtin_convertvector((Vec<uint64_t, L>)(x + 0x1.8p52), Vec<uint32_t, L>);
      const auto isNan = __builtin_convertvector(wide != wide, Vec<int32_t, L>);
      bits = isNan ? broadcast<uint32_t, L>(kFromF64 ? uint32_t(kRange / 2) : 0u) : bits;
      storeAs(p, __builtin_convertvector(bits, Vec<Element, L>));
    }
  }
  static TILETWIN_INLINE uint64_t saturate64(double x) {
    if (x != x) return 0x8000000000000000ull;
    if constexpr (Signed) {
      if (x >= 0x1p63) return 0x7FFFFFFFFFFFFFFFull;
      return x <= -0x1p63 ? 0x8000000000000000ull : uint64_t(int64_t(x));
    } else {
      if (x >= 0x1p64) return 0xFFFFFFFFFFFFFFFFull;
      return x <= 0 ? 0 : uint64_t(x);
    }
  }
};

} // namespace

TwStripFn findCastFloatToInt(DType from, DType to, TwCastKind kind) {
  return forTypes(Floats(), from, Ints(), to, [&]<DType From, DType To>() -> TwStripFn {
    constexpr int L = kVectorBytes / 2;
    return kind == TwCastKind::UnsignedInt ? strip<SameValue, L, SaturatedResult<To, false>, Storage<From>>
                                           : strip<SameValue, L, SaturatedResult<To, true>, Storage<From>>;
  });
}

} // namespace tiletwin::tile
