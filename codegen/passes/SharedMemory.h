// codegen/passes/SharedMemory.h -- a place in the CTA's shared memory for every twg.local_alloc.
#pragma once
#include "codegen/Codegen.h"
#include "codegen/dialect/TWG.h"
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Where shared memory is free: behind all allocations that live at an operation.
class SharedPlaces {
public:
  uint32_t bytes() const { return bytes_; } ///< of all allocations
  uint32_t endAt(mlir::Operation* op) const;

private:
  friend SharedPlaces assignSharedMemory(tt::FuncOp kernel);
  struct Life {
    unsigned begin, end; ///< numbers of operations, both inclusive
    uint32_t last;       ///< the byte behind the allocation
  };
  llvm::DenseMap<mlir::Operation*, unsigned> numbers_;
  llvm::SmallVector<Life> lives_;
  uint32_t bytes_ = 0;
};

/// Assigns `offset` to all allocations, so that those that live at the same time do not overlap.
SharedPlaces assignSharedMemory(tt::FuncOp kernel);

/// Half of the shared memory that a CTA can have, in bytes: another CTA shall find room.
uint32_t halfOfSharedMemory(const Target& target);

} // namespace tiletwin::codegen
