// codegen/layout/ScanOrder.h -- the order in which a scan over a laid-out tile combines elements.
// Idea: along the axis, from the lowest bit of the index up: elements of one thread one after the other, lanes in steps of
//       1, 2, 4, ... (Kogge-Stone), warps one after the other, and that once more for each of the registers above them.
//       Layouts that blocked() makes have their bits in this order, along every dimension.
#pragma once
#include "codegen/layout/LinearLayout.h"

namespace tiletwin::codegen {

struct ScanOrder {
  llvm::SmallVector<unsigned> low;      ///< register bits of elements that lie side by side, lowest first
  unsigned laneShift = 0, laneBits = 0; ///< lane bits: laneBits of them from laneShift on
  llvm::SmallVector<unsigned> warps;    ///< warp bits
  llvm::SmallVector<unsigned> high;     ///< register bits above all

  /// How many bits each of the four takes: what the attribute `order` of a laid-out tt.scan says.
  llvm::SmallVector<int32_t, 4> counts() const {
    return {int32_t(low.size()), int32_t(laneBits), int32_t(warps.size()), int32_t(high.size())};
  }
  /// None if the layout's bits along the axis come in another order, or mix dimensions.
  static std::optional<ScanOrder> of(const LinearLayout& layout, unsigned axis);
};

/// The same layout, but that elements of one thread lie side by side along the axis: registers above the warps become the
/// lowest bits. Then a thread has one run for lanes to exchange, not one for each of these registers. None if there are no
/// such registers, or if nobody has anything to exchange.
std::optional<LinearLayout> withOneRun(const LinearLayout& layout, unsigned axis);

} // namespace tiletwin::codegen
