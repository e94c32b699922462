// codegen/passes/StoreWaits.h -- groups of stores to tensors, and where they are waited for.
// Here:      which stores a loop leaves on their way into the next iteration. Not here: barriers, which have their places
//            (Barriers.h), products of warpgroups (Groups.h).
// Idea: in a kernel with a producer nothing reads back what a store writes, so all that has to wait is the next write to the
//       shared memory that it reads; behind that wait the barrier that the write has anyway tells all threads.
#pragma once
#include "codegen/passes/SharedMemory.h"
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Makes each store to a tensor a group of its own, and puts waits for them.
void groupStores(tt::FuncOp kernel);

/// Fails with a diagnostic at a store whose shared memory is used before it is known to be read.
mlir::LogicalResult verifyStoreWaitedFor(twg::TensorStoreOp store);

} // namespace tiletwin::codegen
