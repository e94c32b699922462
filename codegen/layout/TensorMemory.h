// codegen/layout/TensorMemory.h -- where the elements of a tile of sums lie in tensor memory, and who loads them.
//
// Idea: tensor memory has 128 lanes, and warp w accesses lanes 32 (w mod 4) to 32 (w mod 4) + 31. A product of 128 rows has a
//       row in each lane, one of 64 rows has 16 rows in the first half of each warp's lanes. Columns lie side by side; further
//       blocks of 128 rows have columns behind those. Extents are powers of two, so a cell is linear over F2 in the element's
//       index: its lane is in the upper half of a word, its column in the lower one, as instructions name it.
#pragma once
#include "codegen/layout/LinearLayout.h"

namespace tiletwin::codegen {

class TensorMemoryLayout {
public:
  static constexpr uint32_t kColumns = 512; ///< of a multiprocessor
  static constexpr unsigned kLaneShift = 16, kWarpLaneBits = 5;

  /// shape: rows by columns, for which fits() holds.
  explicit TensorMemoryLayout(llvm::ArrayRef<int64_t> shape) : tile_(shape, {}) {}
  /// True for sums that products by one CTA have, in cells of 32 bits.
  static bool fits(llvm::ArrayRef<int64_t> shape);

  /// Rows of one instruction.
  uint32_t instructionRows() const { return rowBits() < 7 ? 64 : 128; }
  /// Columns of tensor memory that the tile takes.
  uint32_t columns() const;
  /// The cell of an element (flat row-major index).
  uint32_t cellOf(uint32_t element) const;
  /// A layout of registers as one of cells: its bases are cells.
  LinearLayout inMemory(const LinearLayout& registers) const;
  /// The layout in which all warps load the tile, each element once; there are four warps or more, and a row for each four
  /// threads. Warps of a second group of four have other rows, if there are any, else the upper columns.
  LinearLayout registers(unsigned warpBits) const;

private:
  unsigned rowBits() const { return tile_.dimensionBits(0); }
  unsigned columnBits() const { return tile_.dimensionBits(1); }

  LinearLayout tile_; ///< extents only
};

/// How a warp's registers are loaded and stored: all of them by accesses of 2^countBits columns side by side, in registers that
/// follow each other.
struct TensorMemoryAccess {
  bool isSplit = false; ///< the upper half of the warp has the same 16 lanes' columns, `half` further on
  uint32_t half = 0;    ///< columns
  unsigned countBits = 0;

  /// None if a warp's accesses do not give this layout. inMemory: as of TensorMemoryLayout. atMost: bound of countBits.
  static std::optional<TensorMemoryAccess> of(const LinearLayout& inMemory, unsigned atMost);
};

} // namespace tiletwin::codegen
