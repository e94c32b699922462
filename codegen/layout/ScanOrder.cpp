// codegen/layout/ScanOrder.cpp -- see ScanOrder.h.
#include "codegen/layout/ScanOrder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

namespace tiletwin::codegen {

std::optional<ScanOrder> ScanOrder::of(const LinearLayout& layout, unsigned axis) {
  uint32_t mask = layout.dimensionMask(axis);
  unsigned shift = layout.dimensionShift(axis), count = layout.dimensionBits(axis);
  struct Owner {
    Part part = Part::Block;
    unsigned bit = 0;
  };
  llvm::SmallVector<Owner, 16> owners(count);
  for (Part part : kParts)
    for (auto [bit, basis] : llvm::enumerate(layout.bases(part))) {
      if (!(basis & mask)) continue;
      if (!llvm::has_single_bit(basis)) return std::nullopt;
      owners[llvm::countr_zero(basis) - shift] = {part, unsigned(bit)};
    }
  ScanOrder order;
  unsigned i = 0;
  for (; i < count && owners[i].part == Part::Register; ++i) order.low.push_back(owners[i].bit);
  if (i < count) order.laneShift = owners[i].part == Part::Lane ? owners[i].bit : 0;
  for (; i < count && owners[i].part == Part::Lane; ++i)
    if (owners[i].bit != order.laneShift + order.laneBits++) return std::nullopt;
  for (; i < count && owners[i].part == Part::Warp; ++i) order.warps.push_back(owners[i].bit);
  for (; i < count && owners[i].part == Part::Register; ++i) order.high.push_back(owners[i].bit);
  if (i < count) return std::nullopt;
  return order;
}

std::optional<LinearLayout> withOneRun(const LinearLayout& layout, unsigned axis) {
  const std::optional<ScanOrder> order = ScanOrder::of(layout, axis);
  if (!order || order->high.empty() || (!order->laneBits && order->warps.empty())) return std::nullopt;
  std::array<LinearLayout::Bases, 4> bases;
  for (Part part : kParts) bases[size_t(part)] = layout.bases(part);
  unsigned bit = layout.dimensionShift(axis);
  auto give = [&](Part part, unsigned owner) { bases[size_t(part)][owner] = 1u << bit++; };
  for (unsigned owner : order->low) give(Part::Register, owner);
  for (unsigned owner : order->high) give(Part::Register, owner);
  for (unsigned i = 0; i < order->laneBits; ++i) give(Part::Lane, order->laneShift + i);
  for (unsigned owner : order->warps) give(Part::Warp, owner);
  return LinearLayout(layout.shape(), bases);
}

} // namespace tiletwin::codegen
