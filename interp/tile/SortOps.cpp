// interp/tile/SortOps.cpp -- networks of compare-and-swap steps over a tile of 2^k elements, as tl.sort unrolls them.
//
// A step (bit, flip) looks at every element x and its partner y, whose position differs in that bit, and gives
//     ((x > y) != (flip ^ right)) ? y : x        right: whether the bit is set in x's position
// where flip is 0, 1 or a higher bit of the position. This is computed for both elements of a pair on their own, as the
// language's source does: equal elements of different bits, or a NaN, may then appear twice.
// Here:      steps inside one vector (shuffles) and between vectors; blocks that stay in the first-level cache.
// Not here:  recognising the steps (plan/Networks.cpp).
// Invariant: n is a power of two, every step's bit is below log2(n) and below its flip bit.
#include "interp/tile/Strip.h"
#include "interp/tile/Tables.h"

namespace tiletwin::tile {
namespace {

/// Bits of elements, and how they compare.
template <DType T, bool Signed> struct Ordered {
  using E = typename UnsignedBits<sizeof(typename Storage<T>::Element)>::type;
  static constexpr int L = kVectorBytes / int(sizeof(E));
  using V = Vec<E, L>;
  using M = Vec<std::make_signed_t<E>, L>;
  static TILETWIN_INLINE M greater(V a, V b) {
    if constexpr (T == DType::F32) {
      return (M)((Vec<float, L>)a > (Vec<float, L>)b);
    } else if constexpr (T == DType::F64) {
      return (M)((Vec<double, L>)a > (Vec<double, L>)b);
    } else if constexpr (isFloat(T)) {
      return __builtin_convertvector(Storage<T>::template widen<L>(a) > Storage<T>::template widen<L>(b), M);
    } else if constexpr (Signed) {
      return (M)((M)a > (M)b);
    } else {
      return (M)(a > b);
    }
  }
};

template <int D, class V> TILETWIN_INLINE V partners(V v) {
  return [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
    return __builtin_shufflevector(v, v, (I ^ D)...);
  }(std::make_integer_sequence<int, kLanesOf<V>>{});
}

template <class O> struct Network {
  using E = typename O::E;
  using V = typename O::V;
  using M = typename O::M;
  static constexpr int L = O::L, kLog = std::bit_width(unsigned(L)) - 1;
  static constexpr int64_t kBlock = 16384 / int64_t(sizeof(E)); // half a first-level cache

  static bool flipAt(const TwSortStep& step, int64_t position) {
    return step.flip >= 0 ? position >> step.flip & 1 : step.flip == kTwSortDescending;
  }

  /// A step between the lanes of one vector at `position`.
  template <int B = 0> static TILETWIN_INLINE V inside(V x, const TwSortStep& step, int64_t position) {
    if constexpr (B < kLog) {
      if (step.bit != B) return inside<B + 1>(x, step, position);
      const V y = partners<1 << B>(x);
      M wanted;
#pragma clang loop unroll(full)
      for (int i = 0; i < L; ++i) wanted[i] = (i >> B & 1) ? -1 : 0;
      if (step.flip >= 0 && step.flip < kLog) {
        M lane;
#pragma clang loop unroll(full)
        for (int i = 0; i < L; ++i) lane[i] = std::make_signed_t<E>(i);
        wanted ^= M{} - ((lane >> std::make_signed_t<E>(step.flip)) & std::make_signed_t<E>(1));
      } else {
        wanted ^= broadcast<std::make_signed_t<E>, L>(flipAt(step, position) ? -1 : 0);
      }
      return (O::greater(x, y) ^ wanted) != 0 ? y : x;
    } else {
      return x;
    }
  }

  /// A step over elements [first, first + count), whole pairs of runs of at least one vector.
  static void between(const TwSortStep& step, E* data, int64_t first, int64_t count) {
    const int64_t d = int64_t(1) << step.bit;
    for (int64_t base = first; base < first + count; base += 2 * d) {
      const bool flip = flipAt(step, base);
      for (int64_t i = base; i < base + d; i += L) {
        const V a = loadAs<V>(data + i), b = loadAs<V>(data + i + d);
        const M more = O::greater(a, b), less = O::greater(b, a);
        storeAs(data + i, flip ? (more != 0 ? a : b) : (more != 0 ? b : a));
        storeAs(data + i + d, flip ? (less != 0 ? a : b) : (less != 0 ? b : a));
      }
    }
  }

  /// Steps [s, end), all of bits below log2(count), over one block.
  static void block(const TwSortStep* s, const TwSortStep* end, E* data, int64_t first, int64_t count) {
    while (s != end) {
      if (s->bit >= kLog) {
        between(*s++, data, first, count);
        continue;
      }
      const TwSortStep* run = s;
      while (run != end && run->bit < kLog) ++run;
      for (int64_t i = first; i < first + count; i += L) {
        V x = loadAs<V>(data + i);
        for (const TwSortStep* t = s; t != run; ++t) x = inside(x, *t, i);
        storeAs(data + i, x);
      }
      s = run;
    }
  }

  static void run(int64_t n, void* tile, const TwSortStep* steps, int64_t count) {
    auto* data = static_cast<E*>(tile);
    if (n < L) {
      alignas(64) E pad[L] = {};
      std::memcpy(pad, data, size_t(n) * sizeof(E));
      block(steps, steps + count, pad, 0, L);
      std::memcpy(data, pad, size_t(n) * sizeof(E));
      return;
    }
    const int64_t size = n < kBlock ? n : kBlock;
    const TwSortStep* end = steps + count;
    while (steps != end) {
      if (int64_t(2) << steps->bit > size) {
        between(*steps++, data, 0, n);
        continue;
      }
      const TwSortStep* run = steps;
      while (run != end && int64_t(2) << run->bit <= size) ++run;
      for (int64_t first = 0; first < n; first += size) block(steps, run, data, first, size);
      steps = run;
    }
  }
};

struct SortRow {
  DType type;
  TwSortFn isSigned, isUnsigned;
};
template <DType T> constexpr SortRow kRow = {T, Network<Ordered<T, true>>::run, Network<Ordered<T, false>>::run};
constexpr SortRow kRows[] = {
    kRow<DType::I8>,  kRow<DType::I16>,  kRow<DType::I32>, kRow<DType::I64>,
    kRow<DType::F16>, kRow<DType::BF16>, kRow<DType::F32>, kRow<DType::F64>,
};

} // namespace

TwSortFn findSort(DType type, bool isSigned) {
  for (const SortRow& row : kRows)
    if (row.type == type) return isSigned ? row.isSigned : row.isUnsigned;
  return nullptr;
}

} // namespace tiletwin::tile
