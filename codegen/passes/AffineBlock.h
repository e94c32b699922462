// codegen/passes/AffineBlock.h -- a tile that a loop loads, as the block of a tensor that its pointers describe.
// Here:      dimensions, strides, extents and indices from the forms of pointers and mask. Not here: AffineLoads.h, which says
//            what for.
#pragma once
#include "codegen/passes/AffineForm.h"
#include "ir/Contiguity.h"
#include <string>

namespace tiletwin::codegen {

class AffineBlock {
public:
  struct Dimension {
    Sum stride;                 ///< one term, without a factor that changes
    Sum index;                  ///< of the element, along the tensor; of arguments at most one in a term
    int along = -1;             ///< the tile's dimension; -1: the tile has one element there
    std::optional<Sum> extent;  ///< from which on the mask is false; none: the mask says nothing, or is true everywhere
    bool isMaskedBelow = false; ///< the mask is false below 0
  };

  /// Of a tile of one or two dimensions. Leaves conditions in `forms`. None: it is no such block, or cannot be copied.
  static std::optional<AffineBlock> of(tt::LoadOp load, AffineForms& forms, tt::ContiguityAnalysis& contiguity);

  /// The last one is contiguous.
  llvm::ArrayRef<Dimension> dimensions() const { return dimensions_; }
  /// The tile's dimension that is contiguous.
  unsigned contiguous() const { return unsigned(dimensions_.back().along); }
  tt::TensorDescType descriptor() const { return descriptor_; }
  std::string recipe() const;

private:
  bool findDimensions(const AffinePointers& pointers, llvm::ArrayRef<int64_t> shape);
  bool findExtents(const std::vector<Sum>& mask, AffineForms& forms, llvm::ArrayRef<int64_t> shape);
  bool isAligned(AffineForms& forms, tt::ContiguityAnalysis& contiguity, int64_t bytes) const;
  void require(AffineForms& forms, llvm::ArrayRef<int64_t> shape) const;

  mlir::BlockArgument base_;
  llvm::SmallVector<Dimension, 4> dimensions_;
  tt::TensorDescType descriptor_;
};

/// "2*a4*a5+-1"
std::string recipeText(const Sum& sum);

} // namespace tiletwin::codegen
