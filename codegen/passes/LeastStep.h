// codegen/passes/LeastStep.h -- how far addresses of neighbours lie apart, where it is not known that they are contiguous.
//
// Here:      an estimate for each dimension of a tile. Not here: what is certain (ir/Contiguity.h).
// Idea: `(start + arange(n)) % width` mostly counts by one, though nobody knows width; `arange(m) * stride` counts by a
//       number that nobody knows, but by 16 or more if 16 divides it. Lanes go along the dimension with the smaller step:
//       the sectors of memory that a warp touches become fewer, and no result depends on it.
#pragma once
#include "ir/Contiguity.h"

namespace tiletwin::codegen {

/// A step that is as large as any.
inline constexpr int64_t kFarApart = int64_t(1) << 32;

/// For each dimension of a tile of integers or pointers the least number of elements by which most neighbours differ.
/// 0: most are equal. kFarApart: nothing is known, as of what was loaded.
llvm::SmallVector<int64_t, 5> leastSteps(mlir::Value tile, tt::ContiguityAnalysis& contiguity);

} // namespace tiletwin::codegen
