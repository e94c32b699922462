// sim/Sim.h -- the simulator's front: a PTX module is loaded, one of its entries runs on a grid. Read this header first.
//
// Here:      Module, Kernel, LaunchParams, Result.
// Not here:  reading text (ptx/), instructions (isa/), warps and scheduling (machine/), arithmetic (numerics/), checks (check/).
// Idea:      an entry is decoded once into instructions whose operands are arrays over a warp's 32 lanes; each instruction runs
//            over all active lanes at once. Clusters run in parallel; the warps of a cluster take turns on one thread.
// Invariant: a kernel that misbehaves is a Trap in the Result; text that cannot be run is a diagnostic from load(), never a trap
//            half-way; an exception is a fault of tiletwin.
#pragma once
#include "runtime/Buffer.h"
#include "runtime/Findings.h"
#include "runtime/Trap.h"
#include "sim/Schedule.h"
#include "sim/ptx/Ptx.h"
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tiletwin::sim {

class DeviceHeap;    // isa/DeviceHeap.h: what kernels get from malloc
struct LaunchCounts; // counters/Counts.h: what each instruction did
class Program;       // machine/Program.h: an entry and the functions it calls, decoded
class ModuleMemory;  // machine/Program.h: the bytes of a module's variables

struct LoadOptions {
  std::string file = "kernel.ptx"; ///< what diagnostics call the text
  /// A mul.f32 whose only use is an add.f32 is computed as ptxas does, as one fma (docs/simulator.md says by which rule).
  bool contract = true;
  /// Each register has a place of its own, so that its value stays to be looked at. Where a debugger is attached it has anyway.
  bool keepsRegisters = false;
};

/// One .entry, ready to run. Immutable; shared between launches and threads.
class Kernel {
public:
  explicit Kernel(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  const std::string& name() const;
  const ptx::Function& function() const;
  const Program& program() const { return *program_; }
  /// Bytes of the parameter block, and where each parameter lies in it.
  uint32_t parameterBytes() const;
  uint32_t parameterOffset(size_t index) const;
  /// Shared memory of its own variables, bytes; LaunchParams::dynamicShared comes on top.
  uint32_t staticShared() const;
  /// Whether it, or what it calls, calls malloc or free.
  bool usesHeap() const;
  /// Whether it, or what it calls, prints.
  bool usesPrintf() const;

private:
  std::shared_ptr<const Program> program_;
};

class Module {
public:
  /// Reads a module and decodes its entries: an instruction that is not implemented is an error here. Null with `error` set
  /// (position, message with the source line) on failure.
  static std::shared_ptr<const Module> load(std::string_view text, const LoadOptions& options, ptx::Diagnostic& error);
  std::span<const std::string> entries() const { return names_; }
  /// Null if there is no such entry.
  const Kernel* find(std::string_view entry) const;
  const ptx::Module& source() const { return *source_; }
  /// Where a variable of source() lies, by its index there; 0: it is in no memory of the module's own.
  uint64_t addressOf(size_t variable) const;

private:
  std::shared_ptr<const ptx::Module> source_;
  std::shared_ptr<const ModuleMemory> memory_;
  std::vector<std::string> names_;
  std::vector<Kernel> kernels_;
};

/// What is looked for while a kernel runs. Findings do not end a launch; traps do.
struct CheckOptions {
  bool bounds = true;   ///< accesses outside of every buffer, and misaligned ones: traps
  bool barriers = true; ///< divergent or miscounted barriers
  bool async =
      true; ///< results of asynchronous operations that are used before they are waited for; missing proxy fences
  bool uninitialized = false;
  bool races = false;
};

struct LaunchParams {
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  uint32_t dynamicShared = 0;     ///< bytes
  uint32_t sharedGranularity = 1; ///< bytes; a CTA's shared memory reaches to a multiple of it
  uint64_t gridWorkspace = 0;     ///< what %envreg1 (upper half) and %envreg2 hold; CUDA's grids find their barrier so
  std::span<const std::byte> parameters; ///< the parameter block, Kernel::parameterBytes() long
  std::span<const Buffer> buffers;       ///< memory the kernel may touch; device addresses are host addresses
  CheckOptions checks;
  FindingCollector* findings = nullptr; ///< null: nothing is kept
  DeviceHeap* heap = nullptr;           ///< what malloc gives; null: the process's own heap
  LaunchCounts* counts = nullptr;       ///< gets what each instruction did; null: nothing is counted
  /// Numbers of the clusters that run, x first; empty: all. Kernels whose clusters wait for each other need all.
  std::span<const uint64_t> clusters;
  unsigned threads = 0;                        ///< 0: as TILETWIN_NUM_THREADS says, or all cores
  std::optional<Schedule> schedule;            ///< nothing: as TILETWIN_SIM_SCHEDULE says
  uint64_t instructionLimit = 0;               ///< warp instructions of the launch; 0: none
  std::function<void(std::string_view)> print; ///< vprintf's output, CTA by CTA; null: stdout
  std::function<bool()> poll;                  ///< called about every 50 ms on the launching thread; false: stop
};

struct Result {
  Trap trap;                 ///< kind None: every thread ran to its end. message holds the PTX line, CTA, warp and lane
  uint64_t instructions = 0; ///< warp instructions that ran
  uint64_t laneInstructions = 0; ///< the same, times active lanes
  uint64_t printed = 0;          ///< bytes that a GPU keeps, at least, of what vprintf wrote
};

/// Runs a grid to its end, or to its first trap. Thread-safe.
Result launch(const Kernel& kernel, const LaunchParams& params);

} // namespace tiletwin::sim
