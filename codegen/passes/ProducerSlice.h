// codegen/passes/ProducerSlice.h -- what of a kernel has to run so that some of its operations run, on scalars alone.
// Here:      the loops and branches around these operations, what they and these compute with, and a copy of all that.
// Not here:  which operations (Producer.h), what of a loop is computed iterations ahead (LoopSlice.h).
// Invariant: the copy runs the operations as often as the kernel does, in the same order and with the same numbers.
#pragma once
#include "ir/TT.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

namespace tiletwin::codegen {

class ProducerSlice {
public:
  /// Adds an operation that runs where `at` stands and has these operands. False if they, or whether it runs, come from
  /// tiles, from memory that may be written, or from control flow that is no loop and no branch.
  bool add(mlir::Operation* at, mlir::ValueRange operands);
  /// Copies the operations, which are those of the kernel's first block, and what they need, to the builder.
  void copyTo(mlir::OpBuilder& builder, mlir::Block& block, const llvm::DenseSet<mlir::Operation*>& operations) const;

private:
  bool addControl(mlir::Operation* op);
  bool addValue(mlir::Value value);
  void copyFor(mlir::OpBuilder& builder, mlir::scf::ForOp loop, const llvm::DenseSet<mlir::Operation*>& operations,
               mlir::IRMapping& mapping) const;
  void copyWhile(mlir::OpBuilder& builder, mlir::scf::WhileOp loop, const llvm::DenseSet<mlir::Operation*>& operations,
                 mlir::IRMapping& mapping) const;
  void copyIf(mlir::OpBuilder& builder, mlir::scf::IfOp branch, const llvm::DenseSet<mlir::Operation*>& operations,
              mlir::IRMapping& mapping) const;
  void copyBlock(mlir::OpBuilder& builder, mlir::Block& block, const llvm::DenseSet<mlir::Operation*>& operations,
                 mlir::IRMapping& mapping) const;

  llvm::DenseSet<mlir::Value> values_;        ///< that are computed
  llvm::DenseSet<mlir::Operation*> branches_; ///< loops and branches that are taken
};

} // namespace tiletwin::codegen
