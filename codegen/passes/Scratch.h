// codegen/passes/Scratch.h -- shared memory that operations use while they run, and the barriers that they have inside.
// Here:      what each operation needs, and the attribute that says so. Not here: where free memory is (SharedMemory.h),
//            barriers between operations (Barriers.h).
#pragma once
#include "codegen/Codegen.h"
#include "codegen/dialect/TWG.h"
#include "codegen/passes/AccessLayout.h"
#include "ir/TT.h"

namespace tiletwin::codegen {

struct Scratch {
  uint32_t bytes = 0;
  unsigned barriers = 0;
};

/// What an operation with laid-out tiles needs; none if its elements stay in their warps.
std::optional<Scratch> scratchNeededBy(mlir::Operation* op, const Target& target, ThreadBits threads);

/// The operation's twg.scratch; null if there is none.
twg::ScratchAttr scratchOf(mlir::Operation* op);
void setScratch(mlir::Operation* op, twg::ScratchAttr scratch);

/// True if the operation's first own barrier stands in front of its writes: what a thread or a
/// warp does by itself comes first.
bool writesBehindOwnBarrier(mlir::Operation* op);

/// True for an operation whose twg.scratch may have one barrier less than it needs at most: the one in front of its writes
/// is left out where no thread reads the memory any more.
bool firstBarrierIsOptional(mlir::Operation* op);

/// Who holds which element: a scalar is a tile of one element that every thread holds.
LinearLayout holdersOf(mlir::Value value, ThreadBits threads);

/// Of one element; i1 takes a byte.
unsigned bytesInMemory(mlir::Type element);

} // namespace tiletwin::codegen
