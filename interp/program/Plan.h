// interp/program/Plan.h -- what a program is: a flat array of instructions over one arena.
//
// Here:      the instruction format, arguments, results, constants, source positions.
// Not here:  how IR becomes instructions (plan/Builder.h), what running them means (run/Frame.h, run/Execute*.cpp).
// Invariant: a Plan is immutable once built and may be shared by any number of threads.
//
// The arena of a frame is laid out as
//     [0, templateBytes)            constants and launch-invariant values: filled once per frame by initFrame()
//     [templateBytes, frameBytes)   scalars and tiles of the running program, coloured by liveness; never cleared
#pragma once
#include "interp/Interp.h"
#include "interp/program/Adjacent.h"
#include "interp/program/DebugInfo.h"
#include "interp/tile/TileOps.h"
#include "runtime/DType.h"
#include "runtime/Trap.h"
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tiletwin::interp {

struct Frame;
struct Instruction;
struct ProbeAccessOp; // ProbeAccess.h

/// Runs one instruction; returns the next one, or null to leave (Frame::step then says why).
using ExecFn = const Instruction* (*)(const Instruction* in, Frame& frame);

/// One step of a program. `r` are arena offsets (or jump distances), `data` belongs to Plan::storage.
struct Instruction {
  ExecFn fn = nullptr;
  const void* data = nullptr; ///< operands that do not fit into r and imm
  uint32_t r[4] = {0, 0, 0, 0};
  int64_t imm = 0;
};
static_assert(sizeof(Instruction) == 40);

struct PlanArgument {
  DType type = DType::I32;
  bool isTile = false; ///< the bits are the address of dense row-major storage
  int64_t elements = 1;
  uint32_t slot = 0; ///< arena offset of the 8-byte cell initFrame() fills
  std::string name;
};

struct PlanResult {
  DType type = DType::I32;
  bool isTile = false;
  int64_t elements = 1;
};

/// Bytes that initFrame() copies into the arena.
struct PlanConstant {
  uint32_t offset = 0;
  std::vector<std::byte> bytes;
};

struct Plan {
  std::string name;
  std::vector<PlanArgument> arguments;
  std::vector<PlanResult> results;
  std::vector<DType> argumentTypes;

  std::vector<Instruction> prologue;       ///< launch-invariant scalars; run once per frame
  std::vector<Instruction> code;           ///< one program
  std::vector<uint32_t> prologueLocations; ///< per instruction: index into locations
  std::vector<uint32_t> codeLocations;
  std::vector<SourceLocation> locations;           ///< [0] is "unknown"
  std::vector<std::string> prologueText, codeText; ///< dump(), one line per instruction
  std::string forms;                               ///< dump(), with PlanOptions::forms

  std::vector<PlanConstant> constants;
  size_t templateBytes = 0; ///< a multiple of 64
  size_t frameBytes = 0;    ///< a multiple of 64
  size_t optionalBytes = 0; ///< behind the frame, a multiple of 64: for LaunchState::hasOptional
  /// Arguments through which programs may write, sorted; -1: through another pointer.
  std::vector<int32_t> written;
  bool storesMemory = false;
  bool sharesReads = false;                           ///< an instruction wants to know what no program writes
  bool prints = false;                                ///< programs may print
  bool breaks = false;                                ///< programs may stop at a breakpoint_if
  bool hasProbes = false;                             ///< programs may have findings
  uint32_t checks = 0;                                ///< PlanOptions::checks
  std::vector<const ProbeAccessOp*> probes;           ///< of accesses to memory, by number
  std::vector<std::pair<int32_t, int32_t>> followers; ///< findFollowers(); for the check of barriers
  bool acquires = false, releases = false; ///< atomic operations that order programs do; known if `probes` are
  bool mayWait = false;                    ///< a loop's end, or a poll, may depend on other programs

  AdjacentPrograms adjacent;

  /// The same function with every pointer and mask materialised: programs restart on it when 32-bit index arithmetic
  /// wraps around inside a tile. Null if this plan needs none.
  std::unique_ptr<const Plan> fallback;

  /// Of a plan for a native debugger: what it says about the source. Null for all others.
  std::shared_ptr<const DebugInfo> debug;

  /// Owner of what Instruction::data points at.
  std::vector<std::unique_ptr<void, void (*)(void*)>> storage;

  /// Arena bytes a frame needs, fallback included, and those that it can do without.
  size_t arenaBytes(bool withOptional = false) const;
  std::string dump() const;
};

} // namespace tiletwin::interp
