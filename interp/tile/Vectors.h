// interp/tile/Vectors.h -- vectors of lanes and how each element type is stored: the loads, stores and roundings of
// every kernel here.
// Here:      Vec (a compiler vector of any number of lanes), Eigen's packets of f32 and f64, Storage<DType>.
// Not here:  operations (Elementwise*.h), loops (Strip.h).
// Invariant: all loads and stores are unaligned; a Storage converts exactly on load and rounds once, to nearest even,
//            on store.
#pragma once
#include "interp/tile/TileOps.h"
#include "runtime/FloatFormats.h"
#include <Eigen/Core>
#include <bit>
#include <cstring>
#include <immintrin.h>
#include <type_traits>

#define TILETWIN_INLINE inline __attribute__((always_inline))

namespace tiletwin::tile {

#ifdef __AVX512F__
inline constexpr int kVectorBytes = 64;
#else
inline constexpr int kVectorBytes = 32;
#endif

template <class T, int L> using Vec = T __attribute__((vector_size(sizeof(T) * L)));

using PacketF = Eigen::internal::packet_traits<float>::type;
using PacketD = Eigen::internal::packet_traits<double>::type;
inline constexpr int kLanesF = Eigen::internal::packet_traits<float>::size;
inline constexpr int kLanesD = Eigen::internal::packet_traits<double>::size;
static_assert(sizeof(PacketF) == kVectorBytes && sizeof(PacketD) == kVectorBytes);

template <class V> using LaneOf = std::remove_cvref_t<decltype(std::declval<V>()[0])>;
template <class V> inline constexpr int kLanesOf = int(sizeof(V) / sizeof(LaneOf<V>));
template <class V> using SignedOf = Vec<std::make_signed_t<LaneOf<V>>, kLanesOf<V>>;
template <class V> using UnsignedOf = Vec<std::make_unsigned_t<LaneOf<V>>, kLanesOf<V>>;

template <class V> TILETWIN_INLINE V loadAs(const void* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class V> TILETWIN_INLINE void storeAs(void* p, V v) { std::memcpy(p, &v, sizeof v); }

template <size_t Bytes> struct UnsignedBits;
template <> struct UnsignedBits<1> {
  using type = uint8_t;
};
template <> struct UnsignedBits<2> {
  using type = uint16_t;
};
template <> struct UnsignedBits<4> {
  using type = uint32_t;
};
template <> struct UnsignedBits<8> {
  using type = uint64_t;
};
/// The unsigned integer vector with the bits of a vector.
template <class V> using BitsOf = Vec<typename UnsignedBits<sizeof(LaneOf<V>)>::type, kLanesOf<V>>;

/// All lanes equal to x, bit for bit.
template <class T, int L> TILETWIN_INLINE Vec<T, L> broadcast(T x) {
  using U = typename UnsignedBits<sizeof(T)>::type;
  return (Vec<T, L>)(Vec<U, L>{} + std::bit_cast<U>(x));
}

/// A Vec<float or double> as native packets.
template <class P, int N> struct Packets {
  P part[N];
};
template <class P, class V> TILETWIN_INLINE auto split(V v) {
  return std::bit_cast<Packets<P, int(sizeof(V) / sizeof(P))>>(v);
}
template <class T> using PacketOf = std::conditional_t<std::is_same_v<T, double>, PacketD, PacketF>;

/// a*b + c rounded once. (Eigen's pmadd is inline assembly under Clang, which can neither fold loads nor schedule it.)
template <class V> TILETWIN_INLINE V fusedMultiplyAdd(V a, V b, V c) { return __builtin_elementwise_fma(a, b, c); }

/// f(packet...) on every native packet of the arguments.
template <class F, class V, class... Vs> TILETWIN_INLINE V mapPackets(F f, V first, Vs... rest) {
  using P = PacketOf<LaneOf<V>>;
  auto out = split<P>(first);
  constexpr int kParts = int(sizeof(V) / sizeof(P));
  [&](auto... others) __attribute__((always_inline)) {
#pragma clang loop unroll(full)
    for (int i = 0; i < kParts; ++i) out.part[i] = f(out.part[i], others.part[i]...);
  }(split<P>(rest)...);
  return std::bit_cast<V>(out);
}

/// Storage<T>: Element (as in memory), Compute (lanes while computing), load<L>, store<L>, and round<L>: what a store
/// and a load do.
template <DType T> struct Storage;

template <class T> struct PlainStorage {
  using Element = T;
  using Compute = T;
  template <int L> static TILETWIN_INLINE Vec<T, L> load(const void* p) { return loadAs<Vec<T, L>>(p); }
  template <int L> static TILETWIN_INLINE void store(void* p, Vec<T, L> v) { storeAs(p, v); }
  template <int L> static TILETWIN_INLINE Vec<T, L> round(Vec<T, L> v) { return v; }
};
// Integers compute unsigned (wrap-around); signed operations reinterpret.
template <> struct Storage<DType::I1> : PlainStorage<uint8_t> {};
template <> struct Storage<DType::I8> : PlainStorage<uint8_t> {};
template <> struct Storage<DType::I16> : PlainStorage<uint16_t> {};
template <> struct Storage<DType::I32> : PlainStorage<uint32_t> {};
template <> struct Storage<DType::I64> : PlainStorage<uint64_t> {};
template <> struct Storage<DType::Ptr> : PlainStorage<uint64_t> {};
template <> struct Storage<DType::F32> : PlainStorage<float> {};
template <> struct Storage<DType::F64> : PlainStorage<double> {};

template <class Derived, class E> struct NarrowFloatStorage {
  using Element = E;
  using Compute = float;
  template <int L> static TILETWIN_INLINE Vec<float, L> load(const void* p) {
    return Derived::template widen<L>(loadAs<Vec<E, L>>(p));
  }
  template <int L> static TILETWIN_INLINE void store(void* p, Vec<float, L> v) {
    storeAs(p, Derived::template narrow<L>(v));
  }
  template <int L> static TILETWIN_INLINE Vec<float, L> round(Vec<float, L> v) {
    return Derived::template widen<L>(Derived::template narrow<L>(v));
  }
};

template <> struct Storage<DType::F16> : NarrowFloatStorage<Storage<DType::F16>, uint16_t> {
  /// Mode 0: to nearest even, 3: toward zero.
  template <int L, int Mode = 0> static TILETWIN_INLINE Vec<uint16_t, L> narrow(Vec<float, L> v) {
    constexpr int P = kPart<L>;
    Packets<Vec<uint16_t, P>, L / P> out;
    const auto in = split<Vec<float, P>>(v);
    for (int i = 0; i < L / P; ++i) {
#ifdef __AVX512F__
      if constexpr (P == 16) {
        out.part[i] = (Vec<uint16_t, P>)_mm512_cvtps_ph((__m512)in.part[i], Mode | _MM_FROUND_NO_EXC);
        continue;
      }
#endif
      if constexpr (P == 8) out.part[i] = (Vec<uint16_t, P>)_mm256_cvtps_ph(in.part[i], Mode | _MM_FROUND_NO_EXC);
    }
    return std::bit_cast<Vec<uint16_t, L>>(out);
  }
  template <int L> static TILETWIN_INLINE Vec<float, L> widen(Vec<uint16_t, L> v) {
    constexpr int P = kPart<L>;
    Packets<Vec<float, P>, L / P> out;
    const auto in = split<Vec<uint16_t, P>>(v);
    for (int i = 0; i < L / P; ++i) {
#ifdef __AVX512F__
      if constexpr (P == 16) {
        out.part[i] = (Vec<float, P>)_mm512_cvtph_ps((__m256i)in.part[i]);
        continue;
      }
#endif
      if constexpr (P == 8) out.part[i] = _mm256_cvtph_ps((__m128i)in.part[i]);
    }
    return std::bit_cast<Vec<float, L>>(out);
  }

private:
  /// Lanes of one instruction: halves of a register would have to be put together.
  template <int L> static constexpr int kPart = kVectorBytes == 64 && L % 16 == 0 ? 16 : 8;
};

template <> struct Storage<DType::BF16> : NarrowFloatStorage<Storage<DType::BF16>, uint16_t> {
  template <int L, int Mode = 0> static TILETWIN_INLINE Vec<uint16_t, L> narrow(Vec<float, L> v) {
    const auto bits = (Vec<uint32_t, L>)v;
    const auto rounded = Mode ? bits >> 16 : (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
    const auto isNan = (Vec<uint32_t, L>)(v != v);
    return __builtin_convertvector((isNan & ((bits >> 16) | 0x40u)) | (~isNan & rounded), Vec<uint16_t, L>);
  }
  template <int L> static TILETWIN_INLINE Vec<float, L> widen(Vec<uint16_t, L> v) {
    return (Vec<float, L>)(__builtin_convertvector(v, Vec<uint32_t, L>) << 16);
  }
};

/// The f8 formats, from their description. A code shifted into f32's fields is its value divided by 2^(127 - bias),
/// subnormals included.
template <DType T> struct Float8Storage : NarrowFloatStorage<Float8Storage<T>, uint8_t> {
  static constexpr SmallFloat kFormat = smallFloat(T);
  static constexpr int kShift = 23 - kFormat.mantissaBits;
  static constexpr uint32_t kRebias = uint32_t(127 - kFormat.bias) << kFormat.mantissaBits;

  template <int L> static TILETWIN_INLINE Vec<float, L> widen(Vec<uint8_t, L> v) {
    const auto code = __builtin_convertvector(v, Vec<uint32_t, L>);
    const auto magnitude = code & 0x7Fu, sign = (code & 0x80u) << 24;
    auto bits = (Vec<uint32_t, L>)((Vec<float, L>)(magnitude << kShift) *
                                   std::bit_cast<float>(uint32_t(254 - kFormat.bias) << 23));
    if constexpr (kFormat.infinity != 0) { // the top exponent: infinity and NaNs
      const auto special = (Vec<uint32_t, L>)(magnitude >= kFormat.infinity);
      bits = (special & (0x7F800000u | (magnitude << kShift))) | (~special & bits);
    } else {
      const auto isNan = (Vec<uint32_t, L>)(kFormat.unsignedZero ? code == 0x80u : magnitude == 0x7Fu);
      bits |= isNan & 0x7FC00000u;
      if constexpr (kFormat.unsignedZero) return (Vec<float, L>)((isNan & 0x7FC00000u) | (~isNan & (bits | sign)));
    }
    return (Vec<float, L>)(bits | sign);
  }
  template <int L, int Mode = 0> static TILETWIN_INLINE Vec<uint8_t, L> narrow(Vec<float, L> v) {
    const auto bits = (Vec<uint32_t, L>)v, magnitude = bits & 0x7FFFFFFFu;
    Vec<uint32_t, L> normal, subnormal;
    if constexpr (Mode == 0) {
      normal = ((magnitude + ((1u << (kShift - 1)) - 1) + ((magnitude >> kShift) & 1u)) >> kShift) - kRebias;
      constexpr uint32_t kMagic = uint32_t(127 - kFormat.bias + kShift + 1)
                                  << 23; // its last place is the smallest subnormal
      subnormal = (Vec<uint32_t, L>)((Vec<float, L>)magnitude + std::bit_cast<float>(kMagic)) - kMagic;
    } else {
      normal = (magnitude >> kShift) - kRebias;
      const auto scaled =
          (Vec<float, L>)magnitude * std::bit_cast<float>(uint32_t(126 + kFormat.bias + kFormat.mantissaBits) << 23);
      subnormal = (Vec<uint32_t, L>)__builtin_convertvector(__builtin_elementwise_min(scaled, Vec<float, L>{} + 256.f),
                                                            Vec<int32_t, L>);
    }
    const auto isSmall = (Vec<uint32_t, L>)(magnitude < uint32_t(128 - kFormat.bias) << 23);
    auto code = (isSmall & subnormal) | (~isSmall & normal);
    code = __builtin_elementwise_min(code, Vec<uint32_t, L>{} + kFormat.maxFinite);
    if constexpr (Mode != 0 && kFormat.infinity != 0) code += (Vec<uint32_t, L>)(magnitude == 0x7F800000u) & 1u;
    auto signedCode = code | ((bits >> 24) & 0x80u);
    if constexpr (kFormat.unsignedZero) signedCode &= ~(Vec<uint32_t, L>)(code == 0u);
    const auto isNan = (Vec<uint32_t, L>)(magnitude > 0x7F800000u);
    return __builtin_convertvector((isNan & kFormat.nan) | (~isNan & signedCode), Vec<uint8_t, L>);
  }
};
template <> struct Storage<DType::F8E5M2> : Float8Storage<DType::F8E5M2> {};
template <> struct Storage<DType::F8E4M3FN> : Float8Storage<DType::F8E4M3FN> {};
template <> struct Storage<DType::F8E4M3B11FNUZ> : Float8Storage<DType::F8E4M3B11FNUZ> {};
template <> struct Storage<DType::F8E5M2FNUZ> : Float8Storage<DType::F8E5M2FNUZ> {};
template <> struct Storage<DType::F8E4M3FNUZ> : Float8Storage<DType::F8E4M3FNUZ> {};

/// A narrow float type for results that are one of the operands: nothing is rounded, and an infinity does not saturate.
template <DType T> struct ChoiceStorage : Storage<T> {
  template <int L> static TILETWIN_INLINE void store(void* p, Vec<float, L> v) {
    storeAs(p, Storage<T>::template narrow<L, 3>(v));
  }
  template <int L> static TILETWIN_INLINE Vec<float, L> round(Vec<float, L> v) { return v; }
};

/// Whether any bit of a lane mask is set.
template <class M> TILETWIN_INLINE bool anyLane(M mask) {
  if constexpr (sizeof(M) == 64 && kVectorBytes == 64) {
#ifdef __AVX512F__
    return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0; // compares leave masks: no vector is made of them
#endif
  } else if constexpr (sizeof(M) > 32) {
    using Half = Vec<int64_t, int(sizeof(M) / 16)>;
    const auto halves = std::bit_cast<Packets<Half, 2>>(mask);
    return anyLane(halves.part[0] | halves.part[1]);
  } else if constexpr (sizeof(M) == 32) {
    return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
  } else {
    static_assert(sizeof(M) == 16);
    return !_mm_testz_si128((__m128i)mask, (__m128i)mask);
  }
}

/// Whether |x| < limit in every lane; no NaN is. One comparison for all packets: the bits of magnitudes compare as integers.
template <class V> TILETWIN_INLINE bool allSmaller(V x, float limit) {
  using I = Vec<int32_t, kLanesF>;
  const auto magnitudes = split<I>((Vec<int32_t, kLanesOf<V>>)x & 0x7FFFFFFF);
  I largest = magnitudes.part[0];
  for (int i = 1; i < int(sizeof(V) / sizeof(I)); ++i) largest = __builtin_elementwise_max(largest, magnitudes.part[i]);
  return !anyLane(largest >= std::bit_cast<int32_t>(limit));
}

/// Lanes of one step of a loop: `Registers` native registers of the widest lane type, or fewer: rows of 64 elements are
/// common, and a step that is longer than its row takes the padded way.
template <class T, int Registers>
inline constexpr int kLanes =
    Registers * kVectorBytes / int(sizeof(T)) < 64 ? Registers * kVectorBytes / int(sizeof(T)) : 64;

} // namespace tiletwin::tile
