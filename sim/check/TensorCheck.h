// sim/check/TensorCheck.h -- tensor memory that is used too early, or never given back, and cells that nobody has written.
// Not here:  what ends a launch: cells that are not allocated (isa/TensorMemory.cpp).
#pragma once
#include "sim/isa/TensorMemory.h"

namespace tiletwin::sim {

/// What is about to be done to cells: by tcgen05.ld, .st, .dealloc, by a product that reads (A, or D to add to) or writes them.
enum class TensorUse : uint8_t { Load, Store, Free, ProductReads, ProductWrites };

/// Looks at cells of a CTA's tensor memory that the instruction of a warp uses. Nothing if nobody looks on.
void checkTensorCells(Warp& warp, Cta& cta, const TensorRange& range, TensorUse use);

} // namespace tiletwin::sim
