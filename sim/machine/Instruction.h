// sim/machine/Instruction.h -- a decoded instruction, and where its operands lie.
// Here:      Slot, Inst, Step: what isa/ and machine/ have in common.
// Not here:  what runs them (Run.cpp), how they are made (isa/Decode.h).
// Idea:      every operand, immediates included, is an array over the 32 lanes, so that an instruction is one loop without cases.
//            Predicates are one word, bit i for lane i.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tiletwin::sim {

struct Warp;
struct Inst;

using LaneMask = uint32_t;
inline constexpr int kLanes = 32;
inline constexpr LaneMask kAllLanes = ~LaneMask(0);
/// Bytes at a multiple of which values of all lanes lie on the stack, so that no vector of them lies in two cache lines. By
/// where the caller's stack was, one launch in two took a tenth longer.
inline constexpr size_t kLaneAlignment = 64;

/// Where the lanes of one operand lie: a byte offset from the registers of the running call, or from the function's constants.
/// Registers of 8 and 16 bits take 2 bytes a lane, others their size; a predicate is one LaneMask.
struct Slot {
  static constexpr uint32_t kConstant = uint32_t(1) << 31;
  static constexpr uint32_t kNone = ~uint32_t(0);
  uint32_t code = kNone;
  explicit operator bool() const { return code != kNone; }
  friend bool operator==(Slot, Slot) = default;
};

/// How an instruction ended.
enum class Step : uint8_t {
  Next,  ///< done
  Retry, ///< nothing was done: let other warps run, then try again (a lock, a phase that has not completed)
  Park,  ///< done, and these lanes sleep until Warp::wake
  Trap,  ///< Warp::trap was called
};

using Execute = Step (*)(const Inst&, Warp&, LaneMask active);

/// What the run loop does itself; everything else is None.
enum class Flow : uint8_t { None, Branch, BranchTable, Call, Return, Exit };

/// For checks.
enum class InstClass : uint8_t {
  Integer,
  Float,
  Double,
  Half,
  Convert,
  Move,
  Memory,
  Atomic,
  Warp,
  Barrier,
  Tensor,
  Async,
  Control,
  Special
};

struct alignas(64) Inst {
  Execute run = nullptr;      ///< null where flow is not None
  Slot d;                     ///< destination
  Slot a, b, c;               ///< sources
  Slot e;                     ///< a second destination, a fourth source, or none
  Slot guard;                 ///< predicate; none: always
  int64_t immediate = 0;      ///< an address offset, a branch's target (index of an Inst), ...
  const void* data = nullptr; ///< what does not fit here; lives as long as the Program
  Flow flow = Flow::None;
  InstClass kind = InstClass::Integer;
  bool guardNegated = false;
  bool joins = false;       ///< lanes that parted earlier may meet in front of this instruction
  bool isInserted = false;  ///< stands beside the instruction of the text that `source` names, and is none of its own
  int32_t reconverges = -1; ///< Branch, BranchTable: Inst at which the ways meet again
  int32_t source = -1;      ///< index into ptx::Function::body
};

} // namespace tiletwin::sim
