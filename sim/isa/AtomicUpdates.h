// sim/isa/AtomicUpdates.h -- what one lane's atomic operation does to memory: a function for each operation.
// Here:      functions of (at, b, c, flush), which return what memory held before.
// Not here:  addresses and operands (Atomic.cpp).
// Source:    PTX ISA, 9.7.13 (atom, red).
// Idea:      CTAs run on several threads, so host memory is changed by atomic instructions of the host. They order as
//            acquire and release, which is at least what any .sem asks for.
// Invariant: each writes sizeof(T) bytes at an address that is a multiple of sizeof(T).
#pragma once
#include "sim/isa/Forms.h"
#include "sim/numerics/Double.h"
#include "sim/numerics/Half.h"
#include <atomic>
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

/// The value that another one gives with b.
template <auto kOp>
inline constexpr auto kAtomic = []<class T>(std::byte* at, T b, T, bool) -> T {
  if constexpr (std::is_same_v<std::remove_cv_t<decltype(kOp)>, std::remove_cv_t<decltype(kAdd)>>)
    return std::atomic_ref<T>(*reinterpret_cast<T*>(at)).fetch_add(b, std::memory_order_acq_rel);
  else
    return replaceAtomically<T>(at, [=](T old) { return kOp(old, b); });
};
/// Counts from 0 to b, and down from b to 0.
inline constexpr auto kIncrement = []<class T>(T old, T b) -> T { return old >= b ? 0 : old + 1; };
inline constexpr auto kDecrement = []<class T>(T old, T b) -> T { return old == 0 || old > b ? b : old - 1; };
inline constexpr auto kAtomicExchange = []<class T>(std::byte* at, T b, T, bool) -> T {
  if constexpr (sizeof(T) == 16)
    return replaceAtomically128(at, [=](U128) { return b; });
  else
    return std::atomic_ref<T>(*reinterpret_cast<T*>(at)).exchange(b, std::memory_order_acq_rel);
};
/// c where memory holds b.
inline constexpr auto kAtomicCompareAndSwap = []<class T>(std::byte* at, T b, T c, bool) -> T {
  if constexpr (sizeof(T) == 16) {
    return __sync_val_compare_and_swap(reinterpret_cast<U128*>(at), b, c);
  } else {
    std::atomic_ref<T>(*reinterpret_cast<T*>(at))
        .compare_exchange_strong(b, c, std::memory_order_acq_rel, std::memory_order_acquire);
    return b;
  }
};
inline constexpr auto kAtomicAddF32 = [](std::byte* at, uint32_t b, uint32_t, bool flush) -> uint32_t {
  return replaceAtomically<uint32_t>(at, [=](uint32_t old) {
    constexpr auto kSum = kBound<single::kAdd, kNearest>;
    const float x = floatOf(old), y = floatOf(b);
    return bitsOf(flush ? single::kShaped<kSum, true>(x, y) : single::kShaped<kSum, false>(x, y));
  });
};
/// Of two NaNs, in global memory b as it is, and in shared memory the old value; that one quiet, as an instruction makes it.
inline double sumOfNans(double old, double b, bool isGlobal) {
  if (isGlobal) return isNan(b) ? b : old;
  return binary64::quiet(isNan(old) ? old : b);
}
inline constexpr auto kAtomicAddF64 = [](std::byte* at, uint64_t b, uint64_t, bool isGlobal) -> uint64_t {
  return replaceAtomically<uint64_t>(at, [=](uint64_t old) {
    const double x = doubleOf(old), y = doubleOf(b);
    return bitsOf(isNan(x) || isNan(y) ? sumOfNans(x, y, isGlobal) : binary64::kAdd(kNearest, x, y));
  });
};

/// On f16 or bf16; the packed forms change both halves of 32 bits in one step, which is more than the ISA promises.
template <class Format, auto kOp> inline constexpr auto kAtomicHalf = kAtomic<half::kShaped<Format, kOp>>;
template <class Format, auto kOp>
inline constexpr auto kAtomicHalves = kAtomic<half::kPacked<half::kShaped<Format, kOp>>>;
/// The smaller one, a number rather than NaN, and -0 rather than 0; the larger one likewise.
inline constexpr auto kHalfMin = half::kExtremum<false, false, false>;
inline constexpr auto kHalfMax = half::kExtremum<true, false, false>;

/// An operation on `count` elements of an array, each in one indivisible step.
template <auto kOp, class T, bool kFlush = false> void reduceAll(std::byte* to, const std::byte* from, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof value, sizeof value);
    kOp(to + i * sizeof value, value, T(), kFlush);
  }
}

} // namespace tiletwin::sim
