// interp/run/Frame.h -- the state of one running program, and of the launch it belongs to.
//
// Here:      Frame, LaunchState, and the calls the launcher makes: initFrame() once per frame and launch, execute() per program.
// Not here:  threads, program order, texts of traps (run/Launch*.cpp), the instructions (Execute*.cpp).
// Invariant: a Frame is used by one thread at a time; a LaunchState is read-only while programs run, but for `stop`.
#pragma once
#include "interp/Interp.h"
#include "interp/program/Plan.h"
#include "runtime/PrintSelection.h"
#include "runtime/Trap.h"
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tiletwin::interp {

/// Why execute() returned.
enum class Step : uint8_t {
  Done,    ///< the program has finished
  Trapped, ///< Frame::trap says what happened
  Yielded, ///< the program waits for another one, Frame::wait says for what: call resume() later
};

/// Memory that a pointer argument may reach.
struct ArgumentExtent {
  uintptr_t lo = 0, hi = 0; ///< storage; lo == hi: unknown, every access looks the address up
  bool readOnly = false;
  int32_t buffer = -1;  ///< as in LaunchParams::bufferOf
  bool streams = false; ///< long rows that are stored here go past the cache
  bool settled = false; ///< nothing that programs of this launch write lies here; known if Plan::sharesReads
};

/// A buffer found by address.
struct KnownRange {
  uintptr_t lo = 0, hi = 0;
  bool readOnly = false;
};

class MemoryCheck;  // check/MemoryCheck.h
class WrittenLanes; // check/WrittenLanes.h

struct LaunchState {
  LaunchState(const Plan& plan, const LaunchParams& params);
  const Plan* plan;
  const LaunchParams* params;
  std::vector<ArgumentExtent> extents;                        ///< one per argument of the plan
  std::function<std::optional<Buffer>(uintptr_t)> findBuffer; ///< Hooks::findBuffer; called under foundMutex
  mutable std::mutex foundMutex;
  mutable std::vector<Buffer> found;      ///< what it found; under foundMutex
  void* native = nullptr;                 ///< of plans for a native debugger: their code (debug/DebugRun.h)
  std::atomic<bool> stop{false};          ///< set by anyone: every program leaves at its next back edge, Interrupted
  const PrintSelection* prints = nullptr; ///< TILETWIN_PRINT; null: everything is shown
  MemoryCheck* memory = nullptr;          ///< what probes of accesses report to; null: nobody
  uint64_t probed = 0;      ///< bits of arguments (program/ProbeAccess.h) whose accesses somebody wants to see
  bool hasOptional = false; ///< Plan::optionalBytes are there
  int spins = 0;            ///< fruitless rounds of a loop before its program yields
  bool inOrder = false;     ///< TILETWIN_DETERMINISTIC: no decision may depend on the clock

private:
  void chooseStreams(); // ArgumentExtent::streams
  void settle();        // ArgumentExtent::settled
};

/// What a program that yielded waits for, and what leads there.
struct FrameWait {
  // Between back edges of a loop that may wait.
  uint32_t polls = 0; ///< reads of memory in this round that may be waited on
  uint32_t bytes = 0; ///< of the last one: size, address, argument it comes from, what was there
  uintptr_t address = 0;
  int32_t root = -1;
  uint64_t bits = 0;
  // What a message names: the memory that the innermost such loop waits on.
  uintptr_t named = 0;
  uint32_t namedBytes = 0; ///< of an element
  int32_t namedRoot = -1;
  bool namedTile = false;
  // Set when the program yields.
  bool sure = false;  ///< it does the same again until memory changes
  bool watch = false; ///< until the bytes above change
  bool timed = false; ///< or until its own time is over
  uint32_t where = 0; ///< Plan::locations
  const char* operation = "";
  // Set by the launcher.
  bool timeIsOver = false; ///< a timed wait ends now
  bool progressed = false; ///< the program has written memory since it began or went on
};

struct LaneProbeOp; // program/Probes.h
/// What one probe found in the program at hand: the first time that it fired for that form.
struct PendingFinding {
  const LaneProbeOp* probe = nullptr;
  uint16_t form = 0;
  std::vector<int64_t> elements;
  int64_t count = 0;
};

struct alignas(64) Frame {
  // Set by the launcher.
  std::byte* arena = nullptr; ///< 64-byte aligned, Plan::arenaBytes() long
  const LaunchState* launch = nullptr;
  std::array<int32_t, 3> program{};     ///< program id
  std::array<int32_t, 3> grid{1, 1, 1}; ///< what get_num_programs answers
  /// Null, or called at back edges of loops; false stops the program with TrapKind::Interrupted. Rate-limit inside.
  bool (*poll)(void* context) = nullptr;
  void* pollContext = nullptr;
  /// Null, or takes `printed` away in the middle of a program, because there is much of it. As `poll` otherwise.
  bool (*takePrinted)(void* context) = nullptr;

  // Set by initFrame() and execute().
  const Plan* plan = nullptr;      ///< whose instructions run: the launch's, or its fallback
  const Instruction* pc = nullptr; ///< where a yielded program goes on; null: at the start
  Step step = Step::Done;
  bool stored = false;  ///< the program has written memory
  bool restart = false; ///< index arithmetic wrapped: run the fallback plan
  /// Buffers in which accesses through pointers that come from no argument hit last. Emptied by initFrame().
  std::array<KnownRange, 4> known{};
  uint32_t nextKnown = 0;
  bool storedBefore = false; ///< the same as `stored`, which loops that may wait clear
  FrameWait wait;
  Trap trap;                             ///< message is left empty: the launcher writes the text
  std::string printed;                   ///< output of tt.print (text and ProbeRecords); the launcher takes it away
  size_t printedAway = 0;                ///< bytes of this program's output that were taken away while it ran
  size_t printedTwice = 0;               ///< the program has started again: so many bytes are still to be dropped
  std::vector<PendingFinding> findings;  ///< of the program at hand; handed over when it ends
  std::shared_ptr<WrittenLanes> written; ///< of the program at hand, for the check of barriers. Emptied by initFrame()

  template <class T> T& at(uint32_t offset) { return *reinterpret_cast<T*>(arena + offset); }
};

/// Fills the constant part of the arena and runs the launch-invariant prologue. Once per frame and launch; needs
/// arena, launch and grid.
void initFrame(const Plan& plan, Frame& frame);

/// Runs one program to its end, or until it yields. Resets pc, stored and trap itself. Allocates only when it traps or
/// prints.
Step execute(const Plan& plan, Frame& frame);
/// Runs `count` programs as one, from `first` along the grid's first dimension. False: these have to run one by one, and nothing was done.
bool executeAdjacent(const Plan& plan, Frame& frame, const std::array<int32_t, 3>& first, int64_t count);
/// Goes on with a program that yielded.
Step resume(const Plan& plan, Frame& frame);

} // namespace tiletwin::interp
