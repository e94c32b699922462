// sim/machine/Run.h -- the run loop of a warp.
// Not here:  which warp runs (Cluster.h), what parting and meeting do (Fragments.h).
#pragma once
#include "sim/machine/Fragments.h"

namespace tiletwin::sim {

struct RunCounts {
  uint64_t instructions = 0, laneInstructions = 0;
  RunCounts& operator+=(const RunCounts& other) {
    instructions += other.instructions;
    laneInstructions += other.laneInstructions;
    return *this;
  }
};

enum class Turn : uint8_t {
  Ran,     ///< at least one instruction
  Blocked, ///< every fragment waits
  Trapped,
};

/// Lets a warp's fragments run in turn for about `budget` instructions.
Turn runWarp(Warp& warp, uint64_t budget, RunCounts& counts);

/// A warp of a CTA that begins: its lanes, at the entry's first instruction.
void startWarp(Warp& warp, const FunctionCode& entry, LaneMask lanes, FramePool& pool);

// What the run loop does for calls; Calls.cpp. False: a trap.
bool call(Warp& warp, Fragment& fragment, const Inst& in);
void returnFromCall(Warp& warp, Fragment& fragment);

/// The lanes of a fragment that an instruction's guard lets run it.
inline LaneMask guarded(const Inst& in, Warp& warp, LaneMask lanes) {
  if (!in.guard) return lanes;
  const LaneMask guard = warp.predicate(in.guard);
  return lanes & (in.guardNegated ? ~guard : guard);
}

} // namespace tiletwin::sim
