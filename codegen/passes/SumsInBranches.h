// codegen/passes/SumsInBranches.h -- what becomes of a sum behind its last product: branches that read it or begin it anew.
//
// Here:      a sum that a loop carries on although some iterations use it: a loop over all tiles of a persistent kernel.
// Not here:  which products may be in flight, and where memory asks for a wait (DotsInFlight.h).
//
// Idea: an iteration that goes on without the sum needs no wait. So the wait stands in the branch that reads the sum. A
//       choice between the sum and another value by a number is such a branch, too: the instructions of a choice would read
//       registers that products still write.
// Invariant: a branch gives on the sum as it came, or a value that was waited for.
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <optional>

namespace tiletwin::codegen {

class SumInBranches {
public:
  /// sum: what the last product of the loop gives for the carried value of that number. None if an operation of the loop's
  /// body reads it outside of branches, or if it is not what the loop carries on.
  static std::optional<SumInBranches> find(mlir::scf::ForOp loop, unsigned number, mlir::Value sum);
  /// True if all of it lies behind an operation of the loop's body.
  bool isBehind(mlir::Operation* op) const;
  /// Writes the waits.
  void rewrite();

private:
  SumInBranches(mlir::scf::ForOp loop, unsigned number, mlir::Value sum) : loop_(loop), number_(number), sum_(sum) {}
  bool add(mlir::OpOperand& use);
  void makeBranch();
  void waitIn(mlir::scf::IfOp branch, mlir::Region& region);

  mlir::scf::ForOp loop_;
  unsigned number_; ///< of the carried value
  mlir::Value sum_;
  mlir::arith::SelectOp choice_; ///< gives the sum or another value; null: there is none
  mlir::SmallVector<mlir::scf::IfOp, 2> branches_;
};

} // namespace tiletwin::codegen
