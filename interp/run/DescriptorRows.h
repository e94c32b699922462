// interp/run/DescriptorRows.h -- rows of a tensor that a tile picks by number: which of them, and which columns, are inside.
// Not here:  what is done with them (ExecuteDescriptor.cpp, ProbeElements.h).
#pragma once
#include "interp/run/Execute.h"
#include <algorithm>

namespace tiletwin::interp {

struct DescriptorRowsRange {
  int64_t first, last; ///< columns of the tile
  uintptr_t start;     ///< of column `first` of row 0
  DescriptorRowsRange(const DescriptorRowsOp& op, Frame& f) {
    const int64_t column = op.column.get(f), width = op.shape[1];
    first = std::clamp<int64_t>(-column, 0, width);
    last = std::clamp<int64_t>(op.extents[1].get(f) - column, first, width);
    start = uintptr_t(op.base.get(f)) + uintptr_t((column + first) * op.elementBytes);
  }
  /// Address of column `first` of tile row i; false: the row is outside.
  bool row(const DescriptorRowsOp& op, Frame& f, int64_t i, uintptr_t& address) const {
    int64_t row;
    if (op.indexBytes == 2)
      row = f.at<int16_t>(op.rows.v + uint32_t(i * 2));
    else
      row = f.at<int32_t>(op.rows.v + uint32_t(i * 4));
    if (row < 0 || row >= op.extents[0].get(f) || first >= last) return false;
    address = start + uintptr_t(row) * uintptr_t(op.rowStride.get(f));
    return true;
  }
};

} // namespace tiletwin::interp
