// codegen/passes/CopyGroups.h -- blocks that a loop copies from tensors and waits for at once, as TensorCopies.h leaves them.
// Here:      which of a loop's blocks can have a slot for each of several iterations. Not here: who begins their copies when
//            (PipelineTma.h, Producer.h).
#pragma once
#include "codegen/passes/Ring.h"

namespace tiletwin::codegen {

/// A block of an iteration.
struct BlockCopy {
  twg::TensorLoadOp load;
  Slots slots;
};

/// A barrier of all threads, and what is copied behind it until one wait.
struct CopyGroup {
  twg::ProxyBarrierOp before;
  twg::BarrierExpectOp expect;
  twg::BarrierWaitOp wait;
  mlir::SmallVector<BlockCopy, 2> copies;

  /// What an iteration copies.
  uint32_t bytes() const;
  /// True for blocks of the program's own descriptors, whose memory it may also have by a pointer. That of a map which the launcher
  /// makes is not written (AffineLoads.h).
  bool isOfProgram() const;
  bool has(twg::LocalAllocOp memory) const {
    return llvm::any_of(copies, [&](const BlockCopy& copy) { return copy.slots.memory() == memory; });
  }
};

/// Those of the loop's body whose memory is the body's own.
mlir::SmallVector<CopyGroup, 2> copyGroupsOf(mlir::scf::ForOp loop);

/// Slots of the ring for a loop's blocks: its stages, or more (deepened).
int slotsOf(mlir::scf::ForOp loop, const Target& target, const Options& options);

/// As many barriers in shared memory, and one of them.
twg::MemDescType barriersType(mlir::MLIRContext* context, int64_t count);
mlir::Value barrierAt(mlir::OpBuilder& builder, mlir::Location where, mlir::Value barriers, mlir::Value slot);

} // namespace tiletwin::codegen
