// codegen/passes/SharedMemory.h -- a place in the CTA's shared memory for every twg.local_alloc.
#pragma once
#include "codegen/dialect/TWG.h"
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Assigns `offset` to all allocations, so that those that live at the same time do not overlap. Gives the bytes of all.
uint32_t assignSharedMemory(tt::FuncOp kernel);

} // namespace tiletwin::codegen
