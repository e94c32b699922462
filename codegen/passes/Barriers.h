// codegen/passes/Barriers.h -- barriers of all threads, where one could see shared memory too early or too late.
// Here:      barriers in front of and behind operations. Not here: those that an operation has inside (Scratch.h), those of
//            loops that copy ahead (Pipeline.h, PipelineTma.h).
// Idea: between two barriers a range may be written once, or read by all. What was read and written since the last barrier
//       is known inside a block, and where a loop's iteration or a branch begins; where blocks meet everything may have been.
#pragma once
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Inserts all barriers that the kernel's operations want, and says so on the module (barriersAreComplete). Shared memory
/// has its places.
void insertBarriers(tt::FuncOp kernel);

/// True if no barrier is to be added to the module. Text that a user wrote may leave them to the compiler.
bool barriersAreComplete(mlir::ModuleOp module);

/// True for an operation at which all threads of the CTA wait for each other.
bool isBarrier(mlir::Operation* op);

/// True if no operation in front of `at`, or of the loops around it, lets threads use shared memory, but to make barriers in it.
/// Shared memory has its places.
bool isFirstUseOfShared(mlir::Operation* at);

/// Fails with a diagnostic at the first operation that wants a barrier where there is none.
mlir::LogicalResult verifyBarriers(tt::FuncOp kernel);

} // namespace tiletwin::codegen
