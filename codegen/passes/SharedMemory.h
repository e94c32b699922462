// codegen/passes/SharedMemory.h -- a place in the CTA's shared memory for every twg.local_alloc, and for
// what operations use while they run.
#pragma once
#include "codegen/Codegen.h"
#include "codegen/dialect/TWG.h"
#include "codegen/passes/AccessLayout.h"
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Bytes of the CTA's shared memory.
struct SharedRange {
  uint32_t begin = 0, end = 0;
  bool meets(const SharedRange& other) const { return begin < other.end && other.begin < end; }
};

/// Assigns `offset` to all allocations, so that those that live at the same time do not overlap, and twg.scratch to
/// operations that use shared memory while they run, behind the allocations that live then.
void assignSharedMemory(tt::FuncOp kernel, const Target& target, ThreadBits threads);

/// What assignSharedMemory sees to. Fails with a diagnostic at the first operation whose memory is not its own.
mlir::LogicalResult verifySharedMemory(tt::FuncOp kernel, const Target& target, ThreadBits threads);

/// An allocation's bytes, and an operation's own. The allocation has its offset.
SharedRange rangeOf(twg::LocalAllocOp allocation);
SharedRange rangeOf(twg::ScratchAttr scratch);

/// Of a twg.barrier_arrive, a unit: while its block runs, a producer copies nothing, and nobody needs what it has copied.
constexpr llvm::StringLiteral kRingsAreLent = "twg.rings_are_lent";

/// All of the kernel's shared memory.
uint32_t sharedBytesOf(tt::FuncOp kernel);

/// True if each of so many CTAs of a multiprocessor has room for all of the kernel's tiles at one time, and `beside`, in bytes.
bool hasRoomForAllTiles(tt::FuncOp kernel, const Target& target, uint32_t ctas, uint32_t beside);

/// Half of the shared memory that a CTA can have, in bytes: another CTA shall find room.
uint32_t halfOfSharedMemory(const Target& target);
/// Bytes of a multiprocessor's shared memory that each CTA takes beside its own.
inline constexpr uint32_t kSharedOfSystem = 1024;

} // namespace tiletwin::codegen
