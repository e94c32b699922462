// interp/tile/Strip.h -- the one loop over a strip: any number of operands, each a run of elements or a splat; a padded
// tail.
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

using StreamVector = Vec<long long, kVectorBytes / 8>;

/// dst[i] = Op::apply(in0[i], in1[i], ...) with L lanes at a time. Out and In are Storages (or any type with Element,
/// load, store).
template <class Op, int L, class Out, class... In>
void strip(int64_t n, void* dst, const void* const* src, uint32_t splat) {
  constexpr int kIn = int(sizeof...(In));
  constexpr size_t kBytes[kIn] = {sizeof(typename In::Element)...};
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
    if constexpr (sizeof(typename Out::Element) == 4) {
      if (splat & kTwStream && reinterpret_cast<uintptr_t>(out) % kVectorBytes == 0)
        for (; n >= L; n -= L) {
          alignas(kVectorBytes) unsigned char line[L * 4];
          Out::template store<L>(line, Op::apply(In::template load<L>(at[I])...));
          for (int b = 0; b < L * 4; b += kVectorBytes)
            __builtin_nontemporal_store(*reinterpret_cast<const StreamVector*>(line + b),
                                        reinterpret_cast<StreamVector*>(out + b));
          out += L * 4;
          ((at[I] += step[I]), ...);
        }
    }
    for (; n >= L; n -= L) {
      Out::template store<L>(out, Op::apply(In::template load<L>(at[I])...));
      out += L * sizeof(typename Out::Element);
      ((at[I] += step[I]), ...);
    }
    if (n > 0) {
      (
          [&]() __attribute__((always_inline)) {
            if (step[I] == 0) return;
            storeAs(pads[I], Vec<typename In::Element, L>{});
            copyTail(pads[I], at[I], n, kBytes[I]);
          }(),
          ...);
      alignas(64) unsigned char result[L * 8];
      Out::template store<L>(result, Op::apply(In::template load<L>(pads[I])...));
      copyTail(out, result, n, sizeof(typename Out::Element));
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
