// codegen/emit/SharedMatrix.h -- a matrix in shared memory as the descriptors of wgmma and tcgen05 name it.
#pragma once
#include "codegen/dialect/TWG.h"

namespace tiletwin::codegen {

/// A matrix in shared memory: outer (M or N) by K.
struct SharedMatrix {
  uint32_t row = 0, rows = 0, elementBytes = 0; ///< bytes of a row, rows of a column of rows
  bool isKMajor = true;

  SharedMatrix() = default;
  SharedMatrix(twg::MemDescType type, unsigned kDimension) {
    unsigned contiguous = type.getLayout().getContiguous();
    row = type.getLayout().getSwizzle();
    rows = uint32_t(type.getShape()[1 - contiguous]);
    elementBytes = twg::sharedLayoutOf(type).elementBytes();
    isKMajor = contiguous == kDimension;
  }
  /// Bytes from the first element to element (outer, k), which begins a fragment.
  uint32_t offsetOf(uint32_t outer, uint32_t k) const {
    uint32_t along = (isKMajor ? k : outer) * elementBytes, across = isKMajor ? outer : k;
    return along / row * rows * row + across * row + along % row;
  }
  /// Bytes from a column of rows to the next one, which a matrix along K has no use for, and from 8 rows to the next 8.
  uint32_t leading() const { return isKMajor ? 16 : rows * row; }
  uint32_t stride() const { return 8 * row; }
};

} // namespace tiletwin::codegen
