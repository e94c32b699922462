// interp/program/Atomics.h -- atomic accesses to user memory, lane by lane: functions by what they do and the element's type.
// Here:      the kinds, the lanes a function walks, the table look-up.
// Not here:  checks of addresses (ExecuteAtomic.cpp), which operation needs which kind (plan/AtomicOps.cpp).
// Invariant: each lane is one indivisible, sequentially consistent step for every thread of the process; lanes take
// effect in row-major order, so lanes of one tile that name one address all count.
#pragma once
#include "runtime/DType.h"
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tiletwin::interp {

/// Max and Min are signed, UMax and UMin unsigned. Load and Cas do not write unless they say so below.
enum class AtomicKind : uint8_t { And, Or, Xor, Add, FAdd, Max, Min, UMax, UMin, Exch, Cas, Load, Store };

struct AtomicLanes {
  int64_t count = 0;
  const uint64_t* address = nullptr; ///< multiples of the element's size where the mask is 1
  const uint8_t* mask = nullptr;     ///< null: all lanes
  void* old = nullptr;               ///< dense, what memory held before; 0 in lanes with mask 0. Null: not wanted
  const void* value = nullptr;       ///< null for Load
  int64_t valueStride = 0;           ///< bytes; 0: one element for all lanes
  const void* compare = nullptr;     ///< Cas: written if memory holds these bits
  int64_t compareStride = 0;
};

/// Returns true if a lane left other bits in memory than it found.
using AtomicFn = bool (*)(const AtomicLanes& lanes);

/// Null where the combination does not exist (And of F32). And to UMin: I32, I64; FAdd: F16, BF16, F32, F64; Exch and Cas:
/// 16, 32 and 64 bits; Load and Store: any size.
AtomicFn atomicFn(AtomicKind kind, DType type);

/// The bits of 1, 2, 4 or 8 bytes at an address that is a multiple of their number.
inline uint64_t readAtomically(uintptr_t address, int32_t bytes) {
  switch (bytes) {
  case 1: return std::atomic_ref(*reinterpret_cast<uint8_t*>(address)).load();
  case 2: return std::atomic_ref(*reinterpret_cast<uint16_t*>(address)).load();
  case 4: return std::atomic_ref(*reinterpret_cast<uint32_t*>(address)).load();
  default: return std::atomic_ref(*reinterpret_cast<uint64_t*>(address)).load();
  }
}

} // namespace tiletwin::interp
