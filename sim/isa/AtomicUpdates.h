// sim/isa/AtomicUpdates.h -- what one lane's atomic operation does to memory: a functor for each operation.
// Here:      functors with apply(at, b, c, flush), which return what memory held before.
// Not here:  addresses and operands (Atomic.cpp).
// Source:    PTX ISA, 9.7.13 (atom, red).
// Idea:      CTAs run on several threads, so host memory is changed by atomic instructions of the host. They order as
//            acquire and release, which is at least what any .sem asks for.
// Invariant: a functor writes sizeof(T) bytes at an address that is a multiple of sizeof(T).
#pragma once
#include "runtime/FloatFormats.h"
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tiletwin::sim {

using U128 = unsigned __int128;

/// Replaces the value at an address by next(value) until nobody has come between; returns the value that was replaced.
template <class T, class Next> T replaceAtomically(std::byte* at, Next next) {
  std::atomic_ref<T> memory(*reinterpret_cast<T*>(at));
  T old = memory.load(std::memory_order_acquire);
  while (!memory.compare_exchange_weak(old, T(next(old)), std::memory_order_acq_rel, std::memory_order_acquire)) {}
  return old;
}
/// 16 bytes: cmpxchg16b through the builtin, since std::atomic_ref calls a library that may lock.
template <class Next> U128 replaceAtomically128(std::byte* at, Next next) {
  auto* memory = reinterpret_cast<U128*>(at);
  for (U128 old = __sync_val_compare_and_swap(memory, U128(0), U128(0));;) {
    const U128 seen = __sync_val_compare_and_swap(memory, old, next(old));
    if (seen == old) return old;
    old = seen;
  }
}

struct AtomicAdd {
  template <class T> static T apply(std::byte* at, T b, T, bool) {
    return std::atomic_ref<T>(*reinterpret_cast<T*>(at)).fetch_add(b, std::memory_order_acq_rel);
  }
};
struct AtomicAnd {
  template <class T> static T apply(std::byte* at, T b, T, bool) {
    return std::atomic_ref<T>(*reinterpret_cast<T*>(at)).fetch_and(b, std::memory_order_acq_rel);
  }
};
struct AtomicOr {
  template <class T> static T apply(std::byte* at, T b, T, bool) {
    return std::atomic_ref<T>(*reinterpret_cast<T*>(at)).fetch_or(b, std::memory_order_acq_rel);
  }
};
struct AtomicXor {
  template <class T> static T apply(std::byte* at, T b, T, bool) {
    return std::atomic_ref<T>(*reinterpret_cast<T*>(at)).fetch_xor(b, std::memory_order_acq_rel);
  }
};
struct AtomicExchange {
  template <class T> static T apply(std::byte* at, T b, T, bool) {
    if constexpr (sizeof(T) == 16)
      return replaceAtomically128(at, [=](U128) { return b; });
    else
      return std::atomic_ref<T>(*reinterpret_cast<T*>(at)).exchange(b, std::memory_order_acq_rel);
  }
};
/// c where memory holds b.
struct AtomicCompareAndSwap {
  template <class T> static T apply(std::byte* at, T b, T c, bool) {
    if constexpr (sizeof(T) == 16) {
      return __sync_val_compare_and_swap(reinterpret_cast<U128*>(at), b, c);
    } else {
      std::atomic_ref<T>(*reinterpret_cast<T*>(at))
          .compare_exchange_strong(b, c, std::memory_order_acq_rel, std::memory_order_acquire);
      return b;
    }
  }
};
struct AtomicMin {
  template <class T> static T apply(std::byte* at, T b, T, bool) {
    return replaceAtomically<T>(at, [=](T old) { return std::min(old, b); });
  }
};
struct AtomicMax {
  template <class T> static T apply(std::byte* at, T b, T, bool) {
    return replaceAtomically<T>(at, [=](T old) { return std::max(old, b); });
  }
};
/// Counts from 0 to b, and down from b to 0.
struct AtomicIncrement {
  template <class T> static T apply(std::byte* at, T b, T, bool) {
    return replaceAtomically<T>(at, [=](T old) { return old >= b ? 0 : old + 1; });
  }
};
struct AtomicDecrement {
  template <class T> static T apply(std::byte* at, T b, T, bool) {
    return replaceAtomically<T>(at, [=](T old) { return old == 0 || old > b ? b : old - 1; });
  }
};

/// A subnormal becomes zero, with its sign.
inline uint32_t flushed(uint32_t bits) { return bits & 0x7F800000u ? bits : bits & 0x80000000u; }

struct AtomicAddF32 {
  static uint32_t sum(uint32_t x, uint32_t y, bool flush) {
    if (flush) x = flushed(x), y = flushed(y);
    const float r = std::bit_cast<float>(x) + std::bit_cast<float>(y);
    if (r != r) return 0x7FFFFFFFu;
    return flush ? flushed(std::bit_cast<uint32_t>(r)) : std::bit_cast<uint32_t>(r);
  }
  static uint32_t apply(std::byte* at, uint32_t b, uint32_t, bool flush) {
    return replaceAtomically<uint32_t>(at, [=](uint32_t old) { return sum(old, b, flush); });
  }
};
struct AtomicAddF64 {
  static bool isNan64(uint64_t x) { return x << 1 > uint64_t(0x7FF) << 53; }
  /// Of two NaNs, in global memory b as it is, and in shared memory the old value; that one quiet, as an instruction makes it.
  static uint64_t sumOfNans(uint64_t old, uint64_t b, bool isGlobal) {
    if (isGlobal) return isNan64(b) ? b : old;
    return (isNan64(old) ? old : b) | uint64_t(1) << 51;
  }
  static uint64_t apply(std::byte* at, uint64_t b, uint64_t, bool isGlobal) {
    return replaceAtomically<uint64_t>(at, [=](uint64_t old) {
      if (isNan64(old) || isNan64(b)) return sumOfNans(old, b, isGlobal);
      const double r = std::bit_cast<double>(old) + std::bit_cast<double>(b);
      return r != r ? 0xFFF8000000000000u : std::bit_cast<uint64_t>(r);
    });
  }
};

/// f16 and bf16 as the operations below need them: to float, which is exact, and rounded back. The sum of two is rounded right
/// although it is rounded twice, since float has more than twice their digits.
struct HalfF16 {
  static float value(uint16_t v) { return f16ToF32(v); }
  static uint16_t rounded(float v) { return v != v ? uint16_t(0x7FFF) : f32ToF16(v); }
};
struct HalfBF16 {
  static float value(uint16_t v) { return bf16ToF32(v); }
  static uint16_t rounded(float v) { return v != v ? uint16_t(0x7FFF) : f32ToBF16(v); }
};
struct HalfSum {
  static float apply(float x, float y) { return x + y; }
};
/// The smaller one, a number rather than NaN, and -0 rather than 0; the larger one likewise.
struct HalfMin {
  static float apply(float x, float y) {
    if (x != x) return y;
    if (y != y) return x;
    return x < y || (x == y && std::signbit(x)) ? x : y;
  }
};
struct HalfMax {
  static float apply(float x, float y) {
    if (x != x) return y;
    if (y != y) return x;
    return x > y || (x == y && !std::signbit(x)) ? x : y;
  }
};
template <class Format, class Op> struct AtomicHalf {
  static uint16_t combine(uint16_t x, uint16_t y) {
    return Format::rounded(Op::apply(Format::value(x), Format::value(y)));
  }
  static uint16_t apply(std::byte* at, uint16_t b, uint16_t, bool) {
    return replaceAtomically<uint16_t>(at, [=](uint16_t old) { return combine(old, b); });
  }
};
/// Both halves of 32 bits in one step, which is more than the ISA promises.
template <class Format, class Op> struct AtomicHalves {
  static uint32_t apply(std::byte* at, uint32_t b, uint32_t, bool) {
    using Half = AtomicHalf<Format, Op>;
    return replaceAtomically<uint32_t>(at, [=](uint32_t old) {
      const uint32_t low = Half::combine(uint16_t(old), uint16_t(b));
      return uint32_t(Half::combine(uint16_t(old >> 16), uint16_t(b >> 16))) << 16 | low;
    });
  }
};

} // namespace tiletwin::sim
