// sim/machine/Warp.h -- a warp while it runs: registers, the groups its lanes have parted into, what it waits for.
// Here:      what an instruction sees of the machine: lanes of operands, its CTA, memory, traps.
// Not here:  the run loop and divergence (Run.cpp, Fragments.cpp), who runs when (Cluster.cpp).
#pragma once
#include "runtime/Trap.h"
#include "sim/machine/Instruction.h"
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tiletwin::sim {

struct Cta;
struct Fragment;     // Fragments.h: lanes that run together
struct Fragments;    // Fragments.h: all of a warp's
struct WarpAsync;    // isa/Async.h: copies on their way
struct WarpProducts; // isa/Wgmma.h: products on their way
class FunctionCode;

struct Warp {
  std::byte* base[2] = {}; ///< [0] registers of the call that runs, [1] its function's constants
  Cta* cta = nullptr;
  uint32_t index = 0; ///< in its CTA
  LaneMask live = 0;  ///< lanes that exist and have not exited
  Fragment* running = nullptr;
  std::shared_ptr<Fragments> fragments;
  LaneMask carry = 0;               ///< CC.CF of each lane (add.cc, addc, ...); a call may change it
  const Inst* at = nullptr;         ///< the instruction that runs
  std::shared_ptr<WarpAsync> async; ///< made by the first instruction that needs it
  std::shared_ptr<WarpProducts> products;
  uint32_t maxRegisters = 0; ///< that each thread may use, once setmaxnreg has asked; 0: not known
  uint64_t polls = 0;        ///< atomic, volatile and ordered accesses so far: what a loop that waits does
  uint32_t recentRanges = 0; ///< four indices into Grid::addresses, a byte each: where global accesses were last

  /// The 32 lanes of an operand; T has the operand's size.
  template <class T> T* lanes(Slot s) { return reinterpret_cast<T*>(base[s.code >> 31] + (s.code & ~Slot::kConstant)); }
  LaneMask& predicate(Slot s) { return *lanes<LaneMask>(s); }

  /// Ends the launch: `message` says what this instruction did wrong, `lane` (-1: all of them) who.
  /// Returns Step::Trap. Where and which CTA and warp is added.
  Step trap(TrapKind kind, std::string message, int lane = -1);
  /// trap() for functions that return false after one.
  bool fail(TrapKind kind, std::string message, int lane = -1) {
    trap(kind, std::move(message), lane);
    return false;
  }
  /// Lanes of this warp that sleep after Step::Park go on.
  void wake(LaneMask lanes);
};

/// Calls visit(lane) for each lane of a mask.
template <class Visit> inline void eachLane(LaneMask mask, Visit&& visit) {
  for (; mask; mask &= mask - 1) visit(__builtin_ctz(mask));
}

/// d[i] = f(i) for the active lanes; the others keep what they have. Loops that vectorise even where f reads d: results are
/// collected beside it.
template <class T, class F> inline void perLane(T* d, LaneMask active, F&& f) {
  alignas(kLaneAlignment) T r[kLanes];
  if (active == kAllLanes) {
    for (int i = 0; i < kLanes; ++i) r[i] = f(i);
  } else {
    __builtin_memcpy(r, d, sizeof r);
    for (int i = 0; i < kLanes; ++i) {
      const T value = f(i);
      r[i] = active >> i & 1 ? value : r[i];
    }
  }
  __builtin_memcpy(d, r, sizeof r);
}

/// The predicate's word for active lanes; others keep what they have.
inline void assign(LaneMask& d, LaneMask active, LaneMask value) { d = (d & ~active) | (value & active); }

/// A predicate's word: bit i is f(i) for active lanes, what it was for others.
template <class F> inline void perLanePredicate(LaneMask& d, LaneMask active, F&& f) {
  LaneMask r = 0;
  for (int i = 0; i < kLanes; ++i) r |= LaneMask(bool(f(i))) << i;
  assign(d, active, r);
}

} // namespace tiletwin::sim
