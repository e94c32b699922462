// codegen/passes/AtomicLayout.h -- the layout in which atomic accesses are made, and how long their vectors are.
//
// Idea: lanes side by side along consecutive addresses, like other accesses. A thread holds no more neighbours than one
//       instruction takes: sums of f16 go in pairs, from sm_90 on sums of f32, f16 and bf16 in 16 bytes; else one element.
#pragma once
#include "codegen/Codegen.h"
#include "codegen/passes/AccessLayout.h"

namespace tiletwin::codegen {

/// The pointers of an atomic operation on tiles, and its mask (may be null); null for all other operations.
mlir::Value atomicPointers(mlir::Operation* op);
mlir::Value atomicMask(mlir::Operation* op);

/// Elements that one instruction of an atomic operation may take on a target.
unsigned atomicElements(mlir::Operation* op, const Target& target);

} // namespace tiletwin::codegen
