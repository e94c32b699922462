// sim/counters/MemoryCost.h -- what one access of a warp costs: sectors of global and local memory, wavefronts of shared memory.
// Here:      pure functions of lanes and addresses.
// Not here:  which accesses there are (Counting.cpp).
// Source:    measured on an H200 with ncu: tests/data/sim/counters_h200.xz, which tests/counters/test_counter_record.py compares; docs/profile.md
//            says the rules, and where they are not exact.
#pragma once
#include "sim/machine/Instruction.h"
#include <cstdint>

namespace tiletwin::sim {

/// How an instruction accesses memory, as far as that decides what it costs.
enum class AccessForm : uint8_t {
  None, ///< not counted
  Load,
  LoadMatrix, ///< ldmatrix
  Store,
  Atomic,
  Count,          ///< adds 1, and the result is not wanted: lanes at the same address are one access
  CompareAndSwap, ///< atom.cas
  AtomicLoop,     ///< what shared memory cannot do itself (f32, 64 bits): ptxas writes a loop of loads and exchanges
  Copy,           ///< cp.async.ca
  CopyPastL1,     ///< cp.async.cg
};

inline constexpr uint32_t kSectorBytes = 32, kLineBytes = 128, kBanks = 32, kBankBytes = 4;

/// Sectors of an access to global memory; of local memory if the addresses are those of its layout. bytes: of each lane;
/// addresses: of lanes that are active, multiples of `bytes`. Of atomic operations lanes at the same address touch its sector one
/// after another.
uint32_t sectorsTouched(AccessForm form, LaneMask active, const uint64_t* addresses, uint32_t bytes);
/// Sectors of cp.async.cg: lanes that read one sector share it if their halves of it go to one 32-byte unit of shared memory.
uint32_t sectorsPastL1(LaneMask active, const uint64_t* from, const uint64_t* to);

/// Different bytes that the active lanes touch.
uint32_t distinctBytes(LaneMask active, const uint64_t* addresses, uint32_t bytes);

struct SharedCost {
  uint32_t wavefronts = 0;
  uint32_t conflicts = 0;
  /// Of AtomicLoop: those of the loads.
  uint32_t loopWavefronts = 0, loopConflicts = 0;
};
/// Wavefronts of an access to shared memory. addresses: offsets in shared memory, of lanes that are active.
SharedCost sharedCost(AccessForm form, LaneMask active, const uint64_t* addresses, uint32_t bytes);
/// Of cp.async.ca, or of copies that fill with zeros. from: addresses in global memory; null: nothing is read.
SharedCost copyCost(LaneMask active, const uint64_t* from, const uint64_t* to, uint32_t bytes);

} // namespace tiletwin::sim
