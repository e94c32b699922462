// codegen/layout/SharedLayout.h -- where the elements of a tile lie in shared memory, so that no two lanes meet in a bank.
//
// Idea: elements along one dimension are contiguous, in rows of 32, 64 or 128 bytes, one under the other; a longer
//       dimension is cut into columns of rows. Bits 4 and up of a byte's offset are XORed with bits 7 and up: that is
//       what tensor memory accesses and warpgroup matrix descriptors call swizzling, and what keeps eight rows' pieces of
//       16 bytes apart. With pieces of 32 bytes it is bits 5 and up: four rows' pieces are kept apart, for lanes that read
//       a word each of eight columns and four rows. Extents are powers of two, so the offset is linear over F2 in the
//       element's index.
#pragma once
#include "codegen/layout/LinearLayout.h"

namespace tiletwin::codegen {

class SharedLayout {
public:
  static constexpr unsigned kPiece = 16; ///< bytes that stay together where tensor copies and warpgroup products read
  /// The last two dimensions of `shape` are the tile, those before count tiles. A line, of one dimension, is not swizzled.
  /// piece: bytes that stay together, 16 or 32.
  SharedLayout(llvm::ArrayRef<int64_t> shape, unsigned elementBytes, unsigned contiguous, unsigned swizzle,
               unsigned piece = kPiece);
  /// The widest swizzle that a tile's rows fill: 128, 64, 32, or 0.
  static unsigned widestSwizzle(llvm::ArrayRef<int64_t> shape, unsigned elementBytes, unsigned contiguous);

  uint32_t bytes() const { return bytes_; }
  unsigned elementBytes() const { return elementBytes_; }
  uint32_t alignment() const { return swizzle_ ? swizzle_ * 8 : 16; }
  /// The byte at which an element (flat row-major index) begins.
  uint32_t offsetOf(uint32_t element) const;
  /// A layout of registers as one of bytes in memory: its bases are offsets.
  LinearLayout inMemory(const LinearLayout& registers) const;

private:
  llvm::SmallVector<int64_t, 5> shape_;
  unsigned elementBytes_, contiguous_, swizzle_, piece_;
  uint32_t rowBytes_, bytes_;
};

/// True if lanes that read a word of 4 bytes each meet in no bank. inMemory: as of SharedLayout.
bool readsWordsApart(const LinearLayout& inMemory, unsigned elementBytes);

/// How a thread's registers are read by ldmatrix: eight rows of 16 bytes become one 32-bit word of each lane.
struct MatrixLoad {
  bool transposed = false;
  llvm::SmallVector<uint32_t, 2> packed; ///< register bits inside a word, lowest first
  llvm::SmallVector<uint32_t, 5> words;  ///< register bits that number a thread's words

  /// None if no ldmatrix gives this layout of registers. inMemory: as of SharedLayout.
  static std::optional<MatrixLoad> of(const LinearLayout& inMemory, unsigned elementBytes);
};

} // namespace tiletwin::codegen
