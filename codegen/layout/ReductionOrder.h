// codegen/layout/ReductionOrder.h -- the order in which a reduction over a laid-out tile combines elements.
// Idea: 2^n elements along the axis are combined in n steps, each for one bit of the axis' index; which bits are in
//       registers, lanes and warps is the layout's choice, and so is the order of the steps.
#pragma once
#include "codegen/layout/LinearLayout.h"

namespace tiletwin::codegen {

struct ReductionOrder {
  /// Bits of the axis' index (0 the lowest), in the order in which the halves that they tell apart are combined.
  llvm::SmallVector<int32_t> bits;
  /// None if one hardware bit changes the index along the axis and along another dimension.
  static std::optional<ReductionOrder> of(const LinearLayout& layout, unsigned axis);
};

} // namespace tiletwin::codegen
