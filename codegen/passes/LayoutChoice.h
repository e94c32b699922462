// codegen/passes/LayoutChoice.h -- which layout each tile gets.
//
// Here:      the choice, from the function as it stands. Not here: the rewriting (Layouts.cpp), accesses (AccessLayout.h).
//
// Idea: some operations decide: loads and stores want coalesced accesses, dots want the tensor cores' layouts. What is
//       computed from one of these follows it; where two meet the more valuable one wins, of equal ones that of the
//       result's store. What is computed from constants, ranges, scalars and broadcasts alone follows nobody: it is
//       *free*, and made again in every layout that a user needs, unless it costs less to convert the value than what
//       it repeats. Values carried around loops follow what the body gives, what comes in, or what the body needs them
//       for; what branches give follows what they yield, or what it is needed for.
#pragma once
#include "codegen/passes/DotLayouts.h"
#include "llvm/ADT/DenseSet.h"

namespace tiletwin::codegen {

class LayoutChoice {
public:
  /// spread: loads whose lanes lie along the dimension that shared memory holds side by side (AccessLayouts::spread).
  LayoutChoice(tt::FuncOp function, ThreadBits threads, const Target& target,
               llvm::DenseSet<mlir::Operation*> spread = {});

  /// Loads of matrices that wgmma reads transposed, and that have elements for which it cannot do that itself: a thread stores
  /// its neighbours one by one, and lanes beside each other along them meet in the same banks.
  static llvm::DenseSet<mlir::Operation*> loadsOfTransposed(tt::FuncOp function, ThreadBits threads,
                                                            const Target& target);

  /// The layout of a tile; none if it is free.
  std::optional<LinearLayout> of(mlir::Value tile);
  /// The layout in which a store (its pointers and mask too) is made.
  LinearLayout ofStore(tt::StoreOp store);
  /// The same for a tile that is written through a tensor descriptor.
  LinearLayout ofBlockStore(mlir::Value block);
  /// The layout in which an atomic operation on tiles is made.
  LinearLayout ofAtomic(mlir::Operation* op);
  LinearLayout usual(llvm::ArrayRef<int64_t> shape) { return access_.usual(shape); }
  /// Rows of a tile, 16 bytes of neighbours in registers of one thread.
  LinearLayout inVectors(mlir::RankedTensorType tile) {
    return packed({}, tile.getShape(), 128 / tile.getElementTypeBitWidth()).layout;
  }
  AccessLayouts& access() { return access_; }
  /// How a dot is computed, chosen once.
  const DotPlan& dotPlan(tt::DotOp dot);

  /// True for operations whose operands and results share one layout.
  static bool isElementwise(mlir::Operation* op);
  /// The layout that operand `index` must have for the result to be in `layout`; for operations that are elementwise or
  /// only rename elements.
  static LinearLayout ofOperand(mlir::Operation* op, unsigned index, const LinearLayout& layout);

private:
  struct Wish {
    LinearLayout layout;
    int weight; ///< the wish of the greatest weight wins
  };
  using Wished = std::optional<Wish>;
  Wished wish(mlir::Value value);
  Wished wishOf(mlir::OpResult result);
  Wished wishOf(mlir::BlockArgument argument);
  Wished heaviest(mlir::ValueRange operands);
  /// Where operands of this weight lie in other layouts: the one that the result is stored in, if it is one of them.
  Wish asStored(mlir::Operation* op, Wish wished);
  Wished neededFor(mlir::Value value, unsigned depth);
  /// The layout of a load whose addresses have none.
  LinearLayout ofLoad(tt::LoadOp load);
  /// The layout in which a tile is written, if its own costs no more than this one.
  LinearLayout ofWrite(mlir::Value pointers, mlir::Value mask, mlir::Value written, const LinearLayout& coalesced);
  /// Elements that have to be converted before a free value can be made in one more layout.
  int64_t conversionsFor(mlir::Value value);
  /// The layout in which what a free value repeats lies already, if there is one.
  Wished ofRepeated(mlir::Value value);
  /// A layout in which `pack` neighbouring elements are neighbouring registers of one thread.
  Wish packed(Wished wished, llvm::ArrayRef<int64_t> shape, unsigned pack);
  Wish orUsual(Wished wished, llvm::ArrayRef<int64_t> shape);

  AccessLayouts access_;
  llvm::DenseSet<mlir::Operation*> spread_;
  ThreadBits threads_;
  const Target& target_;
  bool hasScans_; ///< in most kernels no load is asked what becomes of it
  llvm::DenseMap<mlir::Operation*, std::unique_ptr<DotPlan>> dots_;
  llvm::DenseMap<mlir::Value, Wish> known_;
  // The search for a value's wish may come back to the value itself. There it finds no wish: the cycle is cut. A value
  // that has no wish although no cycle was cut is free, and the search does not look at it again.
  static constexpr unsigned kNoCut = ~0u;
  llvm::DenseMap<mlir::Value, unsigned> asked_;
  unsigned outermostCut_ = kNoCut; ///< of the cuts since the value that is looked at was asked for
  /// True if the search was cut at a value further out than the one that is looked at: that one decides, and asks again.
  bool isCut() const { return outermostCut_ < asked_.size() - 1; }
  llvm::DenseSet<mlir::Value> free_;
  bool wasCut_ = false;                              ///< a cycle, since the outermost value was asked for
  llvm::DenseMap<mlir::Value, int64_t> conversions_; ///< conversionsFor
};

} // namespace tiletwin::codegen
