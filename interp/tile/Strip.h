// interp/tile/Strip.h -- the one loop over a strip: any number of operands, each a run of elements or a splat; a tail of fewer
// elements than the lanes of a step.
// Here:      how operands are walked.
// Not here:  what is computed (an Op with a static apply over vectors).
// Invariant: reads and writes only the n elements of each run; an element's result depends neither on n nor on its
//            place.
#pragma once
#include "interp/tile/Vectors.h"
#include <atomic>
#include <immintrin.h>
#include <utility>

namespace tiletwin::tile {

TILETWIN_INLINE void copyTail(void* dst, const void* src, int64_t count, size_t elementBytes) {
  if (count == 1) {
    switch (elementBytes) {
    case 1: std::memcpy(dst, src, 1); return;
    case 2: std::memcpy(dst, src, 2); return;
    case 4: std::memcpy(dst, src, 4); return;
    case 8: std::memcpy(dst, src, 8); return;
    }
  }
  std::memcpy(dst, src, size_t(count) * elementBytes);
}

#if defined(__AVX512BW__) && __has_builtin(__builtin_masked_load)
/// The first n of L lanes.
template <int L> TILETWIN_INLINE auto firstLanes(int64_t n) {
  Vec<uint8_t, L> lane;
  for (int i = 0; i < L; ++i) lane[i] = uint8_t(i);
  return __builtin_convertvector(lane < uint8_t(n), bool __attribute__((ext_vector_type(L))));
}
/// n elements, n <= L; zeros in the other lanes.
template <class E, int L> TILETWIN_INLINE Vec<E, L> loadFirst(const void* p, int64_t n) {
  using Lanes = E __attribute__((ext_vector_type(L)));
  return (Vec<E, L>)__builtin_masked_load(firstLanes<L>(n), static_cast<const E*>(p), Lanes{});
}
template <class E, int L> TILETWIN_INLINE void storeFirst(void* p, Vec<E, L> v, int64_t n) {
  using Lanes = E __attribute__((ext_vector_type(L)));
  __builtin_masked_store(firstLanes<L>(n), (Lanes)v, static_cast<E*>(p));
}
#else
template <class E, int L> TILETWIN_INLINE Vec<E, L> loadFirst(const void* p, int64_t n) {
  Vec<E, L> v{};
  copyTail(&v, p, n, sizeof(E));
  return v;
}
template <class E, int L> TILETWIN_INLINE void storeFirst(void* p, Vec<E, L> v, int64_t n) {
  copyTail(p, &v, n, sizeof(E));
}
#endif

using StreamVector = Vec<long long, kVectorBytes / 8>;

/// dst[i] = Op::apply(in0[i], in1[i], ...) with L lanes at a time. Out and In are Storages (or any type with Element,
/// load, store).
template <class Op, int L, class Out, class... In>
void strip(int64_t n, void* dst, const void* const* src, uint32_t splat) {
  constexpr int kIn = int(sizeof...(In));
  constexpr size_t kBytes[kIn] = {sizeof(typename In::Element)...}, kOut = sizeof(typename Out::Element);
  constexpr bool kStreams = (kOut == 2 || kOut == 4) && L * kOut % kVectorBytes == 0;
  const void* rest[kIn];
  if constexpr (kStreams) {
    const int64_t head = int64_t(-reinterpret_cast<uintptr_t>(dst) % kVectorBytes / kOut);
    if (splat & kTwStream && head != 0 && head < n && reinterpret_cast<uintptr_t>(dst) % kOut == 0) {
      strip<Op, L, Out, In...>(head, dst, src, splat & ~uint32_t(kTwStream)); // vectors past the cache are aligned
      for (int i = 0; i < kIn; ++i)
        rest[i] = static_cast<const unsigned char*>(src[i]) + (splat >> i & 1 ? 0 : size_t(head) * kBytes[i]);
      src = rest;
      dst = static_cast<unsigned char*>(dst) + size_t(head) * kOut;
      n -= head;
    }
  }
  alignas(64) unsigned char pads[kIn][L * 8];
  const unsigned char* at[kIn];
  int64_t step[kIn];
  auto* out = static_cast<unsigned char*>(dst);
  [&]<size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
    ((at[I] = static_cast<const unsigned char*>(src[I]), step[I] = int64_t(L * kBytes[I])), ...);
    if (splat & ~uint32_t(kTwStream)) {
      (
          [&]() __attribute__((always_inline)) {
            if (!(splat >> I & 1)) return;
            using E = typename In::Element;
            storeAs(pads[I], broadcast<E, L>(loadAs<E>(at[I])));
            at[I] = pads[I];
            step[I] = 0;
          }(),
          ...);
    }
    if constexpr (kStreams) {
      if (splat & kTwStream && reinterpret_cast<uintptr_t>(out) % kVectorBytes == 0)
        for (; n >= L; n -= L) {
          alignas(kVectorBytes) unsigned char line[L * kOut];
          Out::template store<L>(line, Op::apply(In::template load<L>(at[I])...));
          for (size_t b = 0; b < L * kOut; b += kVectorBytes)
            __builtin_nontemporal_store(*reinterpret_cast<const StreamVector*>(line + b),
                                        reinterpret_cast<StreamVector*>(out + b));
          out += L * kOut;
          ((at[I] += step[I]), ...);
        }
    }
    for (; n >= L; n -= L) {
      Out::template store<L>(out, Op::apply(In::template load<L>(at[I])...));
      out += L * kOut;
      ((at[I] += step[I]), ...);
    }
    if (n > 0) {
      alignas(64) unsigned char tails[kIn][L * 8], result[L * 8];
      (
          [&]() __attribute__((always_inline)) {
            using E = typename In::Element;
            storeAs(tails[I], step[I] ? loadFirst<E, L>(at[I], n) : loadAs<Vec<E, L>>(at[I]));
          }(),
          ...);
      Out::template store<L>(result, Op::apply(In::template load<L>(tails[I])...));
      using E = typename Out::Element;
      storeFirst<E, L>(out, loadAs<Vec<E, L>>(result), n);
    }
  }(std::make_index_sequence<kIn>{});
}

/// For strips that only load and store.
struct SameValue {
  template <class V> static TILETWIN_INLINE V apply(V v) { return v; }
};

/// A look-up made at the first use and kept in `slot`; any thread may be the first.
template <class Find> TILETWIN_INLINE TwStripFn lookedUpOnce(std::atomic<TwStripFn>& slot, Find find) {
  TwStripFn fn = slot.load(std::memory_order_relaxed);
  if (!fn) slot.store(fn = find(), std::memory_order_relaxed);
  return fn;
}

/// A row of an operation table.
template <class Op, class Fn> struct OpRow {
  Op op;
  Fn fn;
};
using StripRow = OpRow<TwElementwise, TwStripFn>;
template <class Op, class Fn, size_t N> Fn findRow(const OpRow<Op, Fn> (&rows)[N], Op op) {
  for (const OpRow<Op, Fn>& row : rows)
    if (row.op == op) return row.fn;
  return nullptr;
}

} // namespace tiletwin::tile
