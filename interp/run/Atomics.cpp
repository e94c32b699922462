// interp/run/Atomics.cpp -- the loops behind atomicFn(). See program/Atomics.h.
#include "interp/program/Atomics.h"
#include "runtime/FloatFormats.h"
#include <atomic>
#include <bit>
#include <cstring>

namespace tiletwin::interp {

namespace {

// Each operation takes the element in memory, its operand and (Cas) what is compared with, and returns the old bits.
// `changed` becomes true if memory holds other bits now.

template <class T> T readElement(const void* from, int64_t stride, int64_t lane) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(from) + lane * stride, sizeof value);
  return value;
}

constexpr auto kAnd = []<class T>(std::atomic_ref<T> memory, T value, T, bool& changed) -> T {
  T old = memory.fetch_and(value);
  changed |= T(old & value) != old;
  return old;
};
constexpr auto kOr = []<class T>(std::atomic_ref<T> memory, T value, T, bool& changed) -> T {
  T old = memory.fetch_or(value);
  changed |= T(old | value) != old;
  return old;
};
constexpr auto kXor = []<class T>(std::atomic_ref<T> memory, T value, T, bool& changed) -> T {
  changed |= value != 0;
  return memory.fetch_xor(value);
};
constexpr auto kAdd = []<class T>(std::atomic_ref<T> memory, T value, T, bool& changed) -> T {
  changed |= value != 0;
  return memory.fetch_add(value);
};
constexpr auto kExchange = []<class T>(std::atomic_ref<T> memory, T value, T, bool& changed) -> T {
  T old = memory.exchange(value);
  changed |= old != value;
  return old;
};
constexpr auto kCompareAndSwap = []<class T>(std::atomic_ref<T> memory, T value, T compare, bool& changed) -> T {
  T old = compare;
  bool swapped = memory.compare_exchange_strong(old, value);
  changed |= swapped && compare != value;
  return old;
};
constexpr auto kLoad = []<class T>(std::atomic_ref<T> memory, T, T, bool&) -> T { return memory.load(); };

/// Read, compute, compare-and-swap until nobody came in between.
template <auto kCombine>
constexpr auto kLoop = []<class T>(std::atomic_ref<T> memory, T value, T, bool& changed) -> T {
  T old = memory.load(std::memory_order_relaxed), next;
  do next = kCombine(old, value);
  while (!memory.compare_exchange_weak(old, next));
  changed |= next != old;
  return old;
};
template <class T> using Signed = std::make_signed_t<T>;
constexpr auto kLarger = []<class T>(T a, T b) { return Signed<T>(a) < Signed<T>(b) ? b : a; };
constexpr auto kSmaller = []<class T>(T a, T b) { return Signed<T>(b) < Signed<T>(a) ? b : a; };
constexpr auto kLargerUnsigned = [](auto a, auto b) { return a < b ? b : a; };
constexpr auto kSmallerUnsigned = [](auto a, auto b) { return b < a ? b : a; };
constexpr auto kAddF32 = [](uint32_t a, uint32_t b) {
  return std::bit_cast<uint32_t>(std::bit_cast<float>(a) + std::bit_cast<float>(b));
};
constexpr auto kAddF64 = [](uint64_t a, uint64_t b) {
  return std::bit_cast<uint64_t>(std::bit_cast<double>(a) + std::bit_cast<double>(b));
};
// A sum of two 16-bit floats that is rounded to f32 first rounds to the same 16 bits.
constexpr auto kAddF16 = [](uint16_t a, uint16_t b) { return f32ToF16(f16ToF32(a) + f16ToF32(b)); };
constexpr auto kAddBF16 = [](uint16_t a, uint16_t b) { return f32ToBF16(bf16ToF32(a) + bf16ToF32(b)); };

template <class T, auto kOperation> bool run(const AtomicLanes& lanes) {
  bool changed = false;
  auto* old = static_cast<std::byte*>(lanes.old);
  for (int64_t i = 0; i < lanes.count; ++i) {
    T before = 0;
    if (!lanes.mask || lanes.mask[i]) {
      T value = lanes.value ? readElement<T>(lanes.value, lanes.valueStride, i) : T(0);
      T compare = lanes.compare ? readElement<T>(lanes.compare, lanes.compareStride, i) : T(0);
      std::atomic_ref<T> memory(*reinterpret_cast<T*>(lanes.address[i]));
      before = kOperation(memory, value, compare, changed);
    }
    if (old) std::memcpy(old + i * int64_t(sizeof(T)), &before, sizeof before);
  }
  return changed;
}

/// One row for each kind: the function for elements of 1, 2, 4 and 8 bytes.
struct Row {
  AtomicKind kind;
  AtomicFn bySize[4];
};
template <auto kOperation> constexpr Row everySize(AtomicKind kind) {
  return {kind,
          {run<uint8_t, kOperation>, run<uint16_t, kOperation>, run<uint32_t, kOperation>, run<uint64_t, kOperation>}};
}
template <auto kOperation> constexpr Row from16(AtomicKind kind) {
  return {kind, {nullptr, run<uint16_t, kOperation>, run<uint32_t, kOperation>, run<uint64_t, kOperation>}};
}
template <auto kOperation> constexpr Row from32(AtomicKind kind) {
  return {kind, {nullptr, nullptr, run<uint32_t, kOperation>, run<uint64_t, kOperation>}};
}

constexpr Row kRows[] = {
    from32<kAnd>(AtomicKind::And),
    from32<kOr>(AtomicKind::Or),
    from32<kXor>(AtomicKind::Xor),
    from32<kAdd>(AtomicKind::Add),
    from32<kLoop<kLarger>>(AtomicKind::Max),
    from32<kLoop<kSmaller>>(AtomicKind::Min),
    from32<kLoop<kLargerUnsigned>>(AtomicKind::UMax),
    from32<kLoop<kSmallerUnsigned>>(AtomicKind::UMin),
    from16<kExchange>(AtomicKind::Exch),
    from16<kCompareAndSwap>(AtomicKind::Cas),
    everySize<kLoad>(AtomicKind::Load),
    everySize<kExchange>(AtomicKind::Store),
};

AtomicFn floatAdd(DType type) {
  switch (type) {
  case DType::F16: return run<uint16_t, kLoop<kAddF16>>;
  case DType::BF16: return run<uint16_t, kLoop<kAddBF16>>;
  case DType::F32: return run<uint32_t, kLoop<kAddF32>>;
  case DType::F64: return run<uint64_t, kLoop<kAddF64>>;
  default: return nullptr;
  }
}

} // namespace

AtomicFn atomicFn(AtomicKind kind, DType type) {
  if (kind == AtomicKind::FAdd) return floatAdd(type);
  bool movesBits =
      kind == AtomicKind::Exch || kind == AtomicKind::Cas || kind == AtomicKind::Load || kind == AtomicKind::Store;
  if (!movesBits && !isInteger(type)) return nullptr;
  for (const Row& row : kRows)
    if (row.kind == kind) return row.bySize[std::countr_zero(sizeOf(type))];
  return nullptr;
}

} // namespace tiletwin::interp
