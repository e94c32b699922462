// ir/NumericsRewrites.h -- the rewrites that the numerics pass is made of. For Numerics.cpp.
#pragma once
#include "ir/Numerics.h"
#include "mlir/IR/Operation.h"

namespace tiletwin::tt {

/// Division, remainder, roots, exponentials and functions of the device library. The operation may be replaced and erased.
/// Products and sums that this makes may still be contracted.
void rewriteFunction(mlir::Operation* op, const NumericsTarget& target);

/// Arithmetic in formats that the target has no instructions for: in f32, rounded back. Conversions of integers to bf16.
void widenArithmetic(mlir::Operation* op, const NumericsTarget& target);

/// Why the target would have a choice in computing `op`; null if it has none.
const char* choiceOf(mlir::Operation* op, const NumericsTarget& target);

} // namespace tiletwin::tt
