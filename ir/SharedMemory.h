// ir/SharedMemory.h -- how much shared memory a GPU's compiler needs for a kernel at the least.
//
// Here:      the bound, from the operands of dots and the copies of them that pipelined loops keep.
// Not here:  limits of GPUs (python/tiletwin/devices.py); scratch memory of reductions, scans and changes of layout, which
//            is small or reuses the operands' memory.
// Invariant: never more than what Triton 3.9 takes for the same kernel: tests/checks/test_device_limits.py compares.
#pragma once
#include "ir/TT.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>

namespace tiletwin::tt {

/// The GPU and the options of a launch.
struct SharedMemoryQuery {
  int capability = 90; ///< 10 * major + minor
  int numWarps = 4;
  int numStages = 3;
};

struct SharedMemoryNeed {
  int64_t bytes = 0;
  mlir::Operation* dot = nullptr; ///< the dot whose operands these are
  std::string parts;              ///< "3 x (a: 128x64 f16 = 16384) + ...", for the report
};

/// The largest need of any dot of the function, in which everything is inlined; null without dots.
std::optional<SharedMemoryNeed> leastSharedMemory(FuncOp function, const SharedMemoryQuery& query);

} // namespace tiletwin::tt
