// interp/program/WaitInstructions.h -- operands and functions of atomic accesses and of programs that wait for each other.
// Not here:  the loops over lanes (Atomics.h), who runs while a program waits (SchedulerWaiting.cpp).
// Invariant: Frame::wait says what a program that yielded waits for; it is valid from the yield until it goes on.
#pragma once
#include "interp/program/Atomics.h"
#include "interp/program/Instructions.h"

namespace tiletwin::interp {

struct AtomicOp {
  AtomicFn fn = nullptr;
  int64_t elements = 1;
  std::vector<int64_t> shape; ///< empty: a scalar, whose operands are cells
  int32_t elementBytes = 0;
  int32_t root = -1; ///< argument the pointer comes from, or -1
  bool writes = true;
  bool signExtend = false; ///< scalar integers
  bool hasMask = false, hasResult = false, hasCompare = false, hasValue = false;
  bool valueIsCell = false, compareIsCell = false; ///< tiles: one element for all lanes
  Off address, mask, value, compare, result;
  const char* operation = "tt.atomic_rmw";
};

struct PollOp { ///< tt.atomic_poll
  Off address, expected, result;
  Off state; ///< cell: when the wait began in nanoseconds, 0: it has not (execPollEnter)
  bool hasTimeout = false;
  Off timeout;
  int32_t bytes = 0;
  int32_t root = -1;
  uint32_t where = 0; ///< Plan::locations
};

inline constexpr uint64_t kWaitRoundsBytes = 48;

/// A loop that may wait for memory to change: its condition depends on what it reads.
struct WaitOp {
  struct Tile {
    Off at;
    uint64_t bytes = 0;
  };
  std::vector<Off> cells;  ///< scalars that rounds hand on, of those that matter
  std::vector<Tile> tiles; ///< the same of tiles; at the back edge only
  Off state;               ///< kWaitRoundsBytes, then what the cells held at the end of the last round
  bool exact = true;       ///< a round depends on nothing but these and memory
  bool watchable = true;   ///< a round reads memory through single scalar accesses only
  uint32_t where = 0;      ///< Plan::locations of the access that is waited on
  const char* operation = "tt.load";
};

Exec execAtomic;       // data: AtomicOp with a shape
Exec execScalarAtomic; // data: AtomicOp without
Exec execPollEnter;    // r[0] = 0
Exec execPoll;         // data: PollOp
Exec execPolledLoad;   // execScalarLoad inside a loop that may wait
Exec execWaitEnter;    // data: WaitOp; before the loop
Exec execWaitEdge;     // data: WaitOp; pc += imm, or the program yields
/// What is waited on is at the address r[0], r[1] bytes an element, a tile if r[2], in the argument imm (-1: unknown).
Exec execWaitNote;

} // namespace tiletwin::interp
