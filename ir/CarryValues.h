// ir/CarryValues.h -- loops and branches that hand on further values beside their own.
//
// Here:      carryValues(), which makes one operation of scf wider; ShadowWalk, which does so for every operation of a function
//            where some values have another one, their shadow, at their side.
// Not here:  which values have shadows and what those hold (CheckShadows.h, diff/bounds/Builder.h).
// Idea:      regions move to the wider operation as they are. So arguments and operations in them stay the same, and what is
//            noted of them stays true. (MLIR's replaceWithAdditionalYields makes new arguments, and knows loops only.)
#pragma once
#include "ir/TileBuilder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tiletwin::tt {

/// What further values an operation of scf carries, and who knows them inside.
struct CarriedValues {
  /// What a loop begins with. A branch has none: its regions see the values around it.
  llvm::SmallVector<mlir::Value> inits;
  /// Of the results behind the operation's own. Those of an scf.for have the types of `inits`.
  llvm::SmallVector<mlir::Type> results;
  /// Goes through a region. `further`: the values carried into it, as arguments of its first block.
  llvm::function_ref<void(mlir::Region& region, mlir::ValueRange further)> enter;
  /// What an operation that leaves its region hands on further. The builder stands in front of it.
  llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Operation* end)> leave;
};

/// Makes an scf.for, scf.while, scf.if or scf.execute_region wider, and enters and leaves its regions in order. Returns the
/// wider operation, which stands in front of `op`; the builder then stands behind it. `op` itself, without regions, stays until
/// replaceByWider(). If nothing is carried it returns `op`, whose regions were entered and left just the same.
mlir::Operation* carryValues(mlir::OpBuilder& builder, mlir::Operation* op, const CarriedValues& carried);

/// Replaces the results of `op` by the first ones of `wider`, and erases it.
void replaceByWider(mlir::Operation* op, mlir::Operation* wider);

/// Gives values of a function their shadows, in an order in which definitions come first. It builds at the place where it is.
class ShadowWalk : public TileBuilder {
public:
  /// The shadow of a value; null: none.
  mlir::Value of(mlir::Value value) const { return shadows_.lookup(value); }

protected:
  explicit ShadowWalk(FuncOp function) : TileBuilder(function.getLoc(), function.getContext()) {}
  virtual bool needsShadow(mlir::Value value) const = 0;
  virtual mlir::Type shadowTypeOf(mlir::Type type) const = 0;
  /// The shadow of a value that has none, where others have.
  virtual mlir::Value noShadow(mlir::Type type) = 0;
  /// Makes the shadows of an operation's results. The builder stands in front of it.
  virtual void shadowOp(mlir::Operation* op) = 0;
  /// What is known of an operation and its results is now known of the wider one.
  virtual void widened(mlir::Operation* op, mlir::Operation* wider) = 0;

  void shadowRegion(mlir::Region& region);
  /// Carries shadows through an operation of scf, and behind them what `further` says (it may lack enter and leave). Returns the
  /// operation that stands in its place.
  mlir::Operation* shadowThrough(mlir::Operation* op, const CarriedValues& further = {});
  /// Hands shadows on to the blocks that a branch leads to.
  void shadowBranch(mlir::Operation* branch);
  /// The numbers of the values that need a shadow.
  llvm::SmallVector<unsigned> needed(mlir::ValueRange values) const;
  llvm::SmallVector<mlir::Value> shadowsOf(mlir::ValueRange values, llvm::ArrayRef<unsigned> which);
  /// Gives a block more arguments: the shadows of some of its own.
  void addShadowArguments(mlir::Block& block, llvm::ArrayRef<unsigned> which);

  llvm::DenseMap<mlir::Value, mlir::Value> shadows_;
};

} // namespace tiletwin::tt
