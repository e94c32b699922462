// codegen/layout/ReductionOrder.cpp -- registers from the highest bit down, then lanes and warps from the lowest up.
#include "codegen/layout/ReductionOrder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

namespace tiletwin::codegen {

std::optional<ReductionOrder> ReductionOrder::of(const LinearLayout& layout, unsigned axis) {
  uint32_t mask = layout.dimensionMask(axis);
  unsigned shift = layout.dimensionShift(axis);
  ReductionOrder order;
  auto add = [&](uint32_t basis) {
    if (!(basis & mask)) return true;
    if (!llvm::has_single_bit(basis)) return false;
    order.bits.push_back(int32_t(llvm::countr_zero(basis)) - int32_t(shift));
    return true;
  };
  for (uint32_t basis : llvm::reverse(layout.bases(Part::Register)))
    if (!add(basis)) return std::nullopt;
  for (Part part : {Part::Lane, Part::Warp, Part::Block})
    for (uint32_t basis : layout.bases(part))
      if (!add(basis)) return std::nullopt;
  return order;
}

} // namespace tiletwin::codegen
