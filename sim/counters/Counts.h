// sim/counters/Counts.h -- what a launch counts: for each instruction of the PTX text, how often it ran and what its accesses cost.
// Not here:  how requests, sectors and wavefronts are found (MemoryCost.h), who counts (Counting.h), ncu's names for sums of these
//            (python/tiletwin/profile).
// Units:     instructions are warps' instructions; a sector has 32 bytes, a wavefront is one pass through the 32 banks of shared
//            memory, 4 bytes each.
#pragma once
#include "sim/counters/AccessForms.h"
#include "sim/counters/Timeline.h"
#include "sim/counters/Traffic.h"
#include "sim/machine/Instruction.h"
#include "sim/ptx/Ptx.h"
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace tiletwin::sim {

/// Of accesses to one kind of memory.
struct MemoryCounts {
  uint64_t requests = 0;   ///< accesses of a warp with at least one lane
  uint64_t sectors = 0;    ///< of global and local memory
  uint64_t wavefronts = 0; ///< of shared memory
  uint64_t conflicts = 0;  ///< wavefronts beyond those that the width of the access asks for
  /// Of shared memory: those of the loads in loops that stand for atomic operations which it cannot do itself.
  uint64_t loopWavefronts = 0, loopConflicts = 0;
  uint64_t bytes = 0;    ///< that lanes read or write, each lane for itself
  uint64_t distinct = 0; ///< of these, bytes at different places: of each access by itself
  MemoryCounts& operator+=(const MemoryCounts& other);
};

enum class CountedSpace : uint8_t { Global, Local, Shared };
inline constexpr size_t kCountedSpaces = 3;

struct InstructionCounts {
  uint64_t executed = 0;   ///< times that a warp came to it
  uint64_t executedOn = 0; ///< of these, times when its guard was true in some lane
  uint64_t threads = 0;    ///< lanes that came to it, over all times
  uint64_t threadsOn = 0;  ///< of these, lanes whose guard was true
  uint64_t parted = 0;     ///< branches after which lanes of the warp were at two places
  uint64_t bulkBytes = 0;  ///< of shared memory that bulk and tensor copies wrote or read
  std::array<MemoryCounts, kCountedSpaces> memory{};
  InstructionCounts& operator+=(const InstructionCounts& other);
};

/// One access of a warp: for pictures of who touches what.
struct AccessSample {
  CountedSpace space = CountedSpace::Global;
  LaneMask active = 0;
  uint32_t bytes = 0; ///< of each lane
  uint64_t cost = 0;  ///< sectors or wavefronts
  std::array<uint64_t, kLanes> addresses{};
};

struct FunctionCounts {
  const ptx::Function* function = nullptr; ///< of the module that ran
  std::vector<InstructionCounts> body;     ///< as long as function->body; empty: it never ran
  /// The access that cost most of each instruction that has accessed counted memory, as long as `body`.
  std::vector<std::optional<AccessSample>> worst;
  std::vector<CountedAccess> accesses; ///< as long as `body`
};

/// Of one of the launch's buffers.
struct BufferTraffic {
  std::string name;
  uint64_t bytes = 0; ///< its size
  TrafficSums sums;
};

struct LaunchCounts {
  std::vector<FunctionCounts> functions; ///< of the module, in order
  TimelineSums timeline;
  std::vector<BufferTraffic>
      traffic; ///< of buffers that were touched; the last one, without a name, is of other memory
};

} // namespace tiletwin::sim
