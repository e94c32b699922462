// codegen/passes/VerifyProtocol.h -- who waits for whom before code is emitted: barriers, copies, phases.
// Here:      rules between the operations of a ring, of copies and of their waits. Not here: which bytes an operation has, and
//            barriers around them (SharedMemory.h, Barriers.h), what the passes that make rings decide (Ring.h).
#pragma once
#include "codegen/Codegen.h"
#include "codegen/passes/AccessLayout.h"
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Passes see to all of it; ttgir that a user changed may not. Fails with a diagnostic that says what is missing, at the
/// first operation that misses it:
///   - shared memory that one thread writes and another reads or writes has a barrier in between;
///   - a copy by threads is part of a group, and a wait covers the group before anybody reads what was copied;
///   - a copy by the tensor unit arrives on a barrier that expects its bytes, and a wait for that barrier stands before
///     readers; its phase is that of the barrier's word, which then goes on;
///   - the tensor unit sees what threads wrote behind a twg.proxy_barrier;
///   - a product of warpgroups has a fence in front of it; products and stores to tensors are parts of groups, and are waited
///     for before the next barrier if they are not in flight;
///   - a product in tensor memory is waited for right behind it, tiles that live at one time have columns of their own, and
///     what the kernel allocates it gives back;
///   - a producer fills memory of its own, a slot of it behind a wait that it is free; its readers wait until it is full, and
///     each warp arrives at the barrier of free slots where it has read: behind a wait for the product, if that is in flight;
///   - a copy to both CTAs of a pair begins where each has told the other one that its slot is free and its bytes expected;
///   - two groups of warps take turns in order, none is left over, and nothing in a turn waits for all warps;
///   - a slot of a ring is filled behind a barrier that its readers of the iteration before have reached.
mlir::LogicalResult verifyProtocol(tt::FuncOp kernel, const Target& target, ThreadBits threads);

} // namespace tiletwin::codegen
