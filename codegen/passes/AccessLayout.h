// codegen/passes/AccessLayout.h -- the layout in which an access of global memory is fastest, and how long its vectors are.
#pragma once
#include "codegen/layout/LinearLayout.h"
#include "ir/Contiguity.h"
#include "llvm/ADT/DenseMap.h"
#include <map>

namespace tiletwin::codegen {

/// Threads of a CTA as powers of two.
struct ThreadBits {
  unsigned lane = 5, warp = 2;
};

class AccessLayouts {
public:
  /// Looks at all accesses of a function whose tiles have no layout yet.
  AccessLayouts(tt::FuncOp function, ThreadBits threads);

  /// Coalesced for the pointers of an access: lanes side by side along the dimension in which addresses count up, with
  /// the vectors that the widest access of the function with this shape and direction takes.
  LinearLayout of(mlir::Value pointers);
  /// Coalesced for accesses that take at most so many elements side by side.
  LinearLayout of(mlir::Value pointers, unsigned atMost);
  /// The same with as few lanes side by side as whole sectors need: the others lie along the next dimension, where what
  /// shared memory holds transposed is side by side.
  LinearLayout spread(mlir::Value pointers);
  /// The same for a store: with its own vectors. A thread that held more would leave gaps between those of one instruction,
  /// and sectors would be written in parts; loads find the rest in the cache.
  LinearLayout ofStore(mlir::Value pointers) { return of(pointers, kAnyNumber); }
  /// For accesses of single elements in any layout: warps go on where lanes end, and a thread has neighbours of few lines along
  /// the next dimension. It keeps few addresses and masks, and shared memory takes its elements by 16 bytes.
  LinearLayout ofElements(mlir::Value pointers);
  /// The usual layout of a tile that no access decides about.
  LinearLayout usual(llvm::ArrayRef<int64_t> shape);
  /// Elements that one instruction of this access can take in this layout: they lie side by side in memory, in
  /// registers that follow each other, under one mask, aligned, in at most 16 bytes.
  unsigned vector(mlir::Value pointers, mlir::Value mask, const LinearLayout& layout);
  /// The same for a block that a tensor descriptor reads or writes: rows are contiguous, and aligned to 16 bytes.
  LinearLayout ofBlock(mlir::RankedTensorType block);
  /// `column`: the block's first index along the last dimension.
  unsigned blockVector(mlir::Value column, mlir::RankedTensorType block, const LinearLayout& layout);
  unsigned blockSectors(mlir::RankedTensorType block, const LinearLayout& layout);
  /// True if a number is known to be a multiple of `divisor`.
  bool isMultiple(mlir::Value number, int64_t divisor);
  /// The layout, with lanes exchanged for registers so that a thread holds as many neighbours as one access may take: where
  /// a tensor core leaves two in each of four lanes, each gets 16 bytes of a row, and all four 64 bytes.
  /// The same layout if accesses would touch more sectors then.
  LinearLayout lengthened(mlir::Value pointers, mlir::Value mask, const LinearLayout& layout);
  /// True if nothing is known of neighbours' addresses: an access is one of single elements in any layout.
  bool isScattered(mlir::Value pointers);
  /// Sectors of 32 bytes that the accesses of one warp touch in this layout: what a store costs.
  unsigned sectors(mlir::Value pointers, const LinearLayout& layout) { return sectors(pointers, {}, layout); }

private:
  static constexpr unsigned kAnyNumber = ~0u;
  unsigned sectors(mlir::Value pointers, mlir::Value mask, const LinearLayout& layout);
  static unsigned registerRun(const LinearLayout& layout, unsigned dimension);
  static unsigned sectorsOf(const LinearLayout& layout, unsigned dimension, int64_t bytes, unsigned step);
  using Key = std::pair<llvm::SmallVector<int64_t, 5>, llvm::SmallVector<int32_t, 5>>;
  llvm::SmallVector<int32_t, 5> orderOf(mlir::Value pointers);
  int64_t widest(mlir::Value pointers);

  ThreadBits threads_;
  tt::ContiguityAnalysis contiguity_;
  std::map<Key, int64_t> perThread_;
};

} // namespace tiletwin::codegen
