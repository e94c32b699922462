// sim/debugger/View.h -- what a stopped machine looks like: where threads are, their stacks, registers, memory.
//
// Not here:  what stops it (Debugger.h), answers as JSON (Answers.cpp).
// Invariant: nothing here changes the machine.
#pragma once
#include "sim/debugger/Lines.h"
#include "sim/machine/Cta.h"
#include "sim/machine/Fragments.h"
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tiletwin::sim::debugger {

/// Lanes of a warp that are at the same instruction.
struct Group {
  enum class State : uint8_t { Runs, Ready, Waits, Joins };
  LaneMask lanes = 0;
  State state = State::Ready;
  const Frame* frame = nullptr;
  const Inst* at = nullptr;
  const Fragment* fragment = nullptr; ///< null: they wait for other lanes of the warp
};

/// The thread that is looked at.
struct Focus {
  Cta* cta = nullptr; ///< null: none yet
  uint32_t warp = 0;
  int lane = 0;
  Warp& warpOf() const { return cta->warps[warp]; }
};

/// One call of a thread's stack.
struct Call {
  const Frame* frame = nullptr;
  const Inst* at = nullptr; ///< where it is, or the call that it has not come back from
};

/// All live lanes of a warp. `running`: the warp that was about to run `now`; its fragment does not know yet where it is.
std::vector<Group> groupsOf(Warp& warp, const Warp* running, const Inst* now);
/// The group of a lane; null: it has exited.
const Group* groupOf(const std::vector<Group>& groups, int lane);
/// The innermost call first.
std::vector<Call> stackOf(const Group& group);

uint64_t linearCta(const Grid& grid, const std::array<uint32_t, 3>& id);
inline uint32_t linearThread(const Focus& focus) { return focus.warp * uint32_t(kLanes) + uint32_t(focus.lane); }

/// The 32 lanes of a register in a call; empty if the code never uses it. Predicates have one LaneMask.
std::span<const std::byte> lanesOf(const Frame& frame, size_t reg, int component);

/// Bytes of memory that can be looked at from a thread, or an error's text.
struct Bytes {
  std::byte* at = nullptr;
  std::string error; ///< empty: at holds the bytes
};
/// `space`: "generic", "global", "shared" (offset in the CTA's own), "local", "param".
Bytes bytesAt(const Focus& focus, const Frame* frame, std::string_view space, uint64_t address, uint64_t bytes);

} // namespace tiletwin::sim::debugger
