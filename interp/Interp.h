// interp/Interp.h -- the CPU interpreter's public face: a verified tt module becomes a Program, a Program runs on a grid.
//
// Read next: program/Plan.h (what a program is), run/Launch.cpp (how it runs), tile/TileOps.h (what an instruction does).
#pragma once
#include "runtime/Buffer.h"
#include "runtime/DType.h"
#include "runtime/Trap.h"
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mlir {
class ModuleOp;
class Operation;
} // namespace mlir

namespace tiletwin {
class FindingCollector; // runtime/Findings.h
}

namespace tiletwin::interp {

enum class Numerics : uint8_t { Fast, Ieee };

struct PlanOptions {
  Numerics numerics = Numerics::Fast;
  uint32_t checks = 0;  ///< CheckSet::codeBits(): probes to put in
  bool symbolic = true; ///< false: every pointer and mask is materialised (used by tests and as the fallback)
  bool forms = false;   ///< Program::dump() says the form of each value, too
  bool debug = false;   ///< for a native debugger: the module has its notes (ir/NativeDebugOps.td); not symbolic then
  const void* owner = nullptr; ///< handed on in ProbeSite; the planner does not look at it
};

struct Plan;      // program/Plan.h
class WriteWatch; // check/OrderCheck.h

/// An immutable executable kernel. Safe to share between threads.
class Program {
public:
  ~Program();
  const std::string& name() const;
  /// Storage types of the run-time arguments, in order (Ptr for pointers). Tile arguments give their element type.
  std::span<const DType> argumentTypes() const;
  size_t frameBytes() const; ///< arena bytes of one running program
  std::string dump() const;  ///< the plan as text, for tests and `tiletwin ir --stage plan`
  const Plan& plan() const { return *plan_; }
  explicit Program(std::unique_ptr<const Plan> plan);
  /// What one program took in earlier launches, for the launcher's choice of threads; -1: unknown. Any thread.
  std::atomic<int64_t>& programNanoseconds() const { return programNanoseconds_; }

private:
  std::unique_ptr<const Plan> plan_;
  mutable std::atomic<int64_t> programNanoseconds_{-1};
};

/// Lowers the public function `entry` of a verified module. Null on failure, with diagnostics emitted on the
/// module's context (an operation the interpreter cannot run is an error that names it and its source line).
std::shared_ptr<const Program> planModule(mlir::ModuleOp module, std::string_view entry,
                                          const PlanOptions& options = {});

/// One argument, bit pattern in the low bytes: integers sign- or zero-extended, f16/bf16/f32/f64 as their bits, pointers
/// as addresses. For a tile argument or result: the address of its dense row-major storage. For a tensor descriptor: its
/// base address, a multiple of 16, plus 1 if elements outside read as NaN, plus 2 if loads of f32 round to tf32; its
/// extents and strides are the next arguments.
using ArgumentBits = uint64_t;

/// A call of print_if or breakpoint_if in a kernel (tt.probe_call). It belongs to the plan.
struct ProbeSite {
  struct Item {
    DType type = DType::I32;
    bool isSigned = false;
    std::vector<int64_t> shape; ///< empty: a scalar
    size_t bytes = 0;           ///< of all elements
  };
  const void* owner = nullptr; ///< PlanOptions::owner
  int32_t number = 0;          ///< tt.probe_call's site
  bool isBreak = false;        ///< breakpoint_if
  SourceLocation where;
  std::vector<Item> items;
};

/// Stands in a program's printed text behind a zero byte, which text never holds. The values follow, each densely; none
/// follow if the program ended here because it can start again (a breakpoint before its first write).
struct ProbeRecord {
  const ProbeSite* site = nullptr;
  std::array<int32_t, 3> program{};
  uint32_t startsAgain = 0;
  uint64_t bytes = 0; ///< of the values
};

/// What an instruction inside a kernel wants the outside to do. Called on the launching thread or under an internal lock.
struct Hooks {
  /// Called about every 20 ms on the launching thread only; false stops the launch with TrapKind::Interrupted.
  std::function<bool(int64_t done, int64_t total)> poll;
  /// What programs print: whole lines, and whole ProbeRecords between them. Calls are ordered by program id. An
  /// exception stops the launch.
  std::function<void(const std::string&)> print;
  /// The buffer at an address that is in none of the launch's buffers and no registered one, if it is known elsewhere.
  /// It must stay allocated until the launch ends. Any thread, one at a time.
  std::function<std::optional<Buffer>(uintptr_t)> findBuffer;
};

/// What LaunchParams::bufferOf says of a pointer that no buffer holds: nobody knows how long its memory is, or (in eager
/// mode, where every operation is a launch) it comes from no argument of the kernel. Both may reach any known buffer.
inline constexpr int32_t kUnknownExtents = -1, kNoArgument = -2;

struct LaunchParams {
  std::array<int32_t, 3> grid{1, 1, 1};
  std::span<const ArgumentBits> arguments;
  /// Extents of the pointer arguments. `bufferOf[i]` is the index into `buffers` of argument i; kUnknownExtents or
  /// kNoArgument if it has none.
  std::span<const Buffer> buffers;
  std::span<const int32_t> bufferOf;
  /// Addresses that tile-valued results of the entry are written to (eager mode); empty for kernels.
  std::span<const ArgumentBits> results;
  int numThreads = 0; ///< 0: TILETWIN_NUM_THREADS, else all cores
  /// Programs to run: empty = all. Otherwise linear ids (x fastest), ascending.
  std::span<const int64_t> onlyPrograms;
  std::span<const int64_t> skipPrograms;
  /// Program id that get_program_id answers when a single program is run out of its grid (eager mode); unset if x < 0.
  std::array<int32_t, 3> programId{-1, 0, 0};
  /// Programs that reach a breakpoint before their first write end there; Hooks::print runs them in another way.
  bool startsAgain = false;
  /// If not null: set to true if a program left other bits in memory than it found, as far as known (eager mode).
  bool* wrote = nullptr;
  /// onlyPrograms need not ascend: programs begin in that order.
  bool anyOrder = false;
  /// One program after the other, in their order.
  bool oneByOne = false;
  /// If not null: set to true if a program reached memory that is in none of `buffers`.
  std::atomic<bool>* reachedElsewhere = nullptr;
  /// If not null: sees every write that has a probe.
  WriteWatch* watch = nullptr;
  /// Where the plan's probes report to; null: nowhere.
  FindingCollector* findings = nullptr;
};

/// Runs the grid. Returns the trap of the lowest program id that failed; stores made before it stay.
Trap launch(const Program& program, const LaunchParams& params, const Hooks& hooks = {});

/// Name of the instruction set the tile modules were chosen for: "x86-64-v3" or "x86-64-v4".
const char* instructionSet();

} // namespace tiletwin::interp
