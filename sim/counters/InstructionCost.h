// sim/counters/InstructionCost.h -- what an instruction of PTX takes of a multiprocessor's units, and which registers it reads and
// writes: a table for estimates of time.
// Not here:  what its accesses to memory cost (MemoryCost.h), when it can begin (Timeline.h).
// Source:    throughputs: CUDA C++ Programming Guide, "Arithmetic Instructions", compute capability 9.0, as cycles of one of a
//            multiprocessor's four schedulers. Latencies: what is published of dependent instructions on Hopper, rounded.
#pragma once
#include "sim/ptx/Ptx.h"
#include <cstdint>
#include <vector>

namespace tiletwin::sim {

/// What instructions of several warps wait for. Each scheduler has its own, but for memory's, which a multiprocessor has once.
enum class Unit : uint8_t { Issue, Arithmetic, Integer, Special, Double, Tensor, Memory, Copy };
inline constexpr size_t kUnits = 8;

struct InstructionCost {
  Unit unit = Unit::Issue; ///< beside Issue
  float issues = 1;        ///< machine instructions that ptxas makes of it, about
  float busy = 0;          ///< cycles of `unit`
  float latency = 4;       ///< cycles until a result can be read
  bool ends = false;       ///< what stands behind it in the text begins no earlier than all that stands in front
  uint32_t meets = 0;      ///< threads that wait for each other here; ~0: all of the CTA
  bool isAsync = false;    ///< wgmma: the result is waited for otherwise
  std::vector<uint32_t> reads, writes; ///< registers of the function
};

/// Of each instruction of a function.
std::vector<InstructionCost> costsOf(const ptx::Function& function);

} // namespace tiletwin::sim
