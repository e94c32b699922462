// codegen/passes/DotsInFlight.h -- products of warpgroups that stay in flight while a loop goes on.
//
// Here:      which products of a loop may, where they are waited for.
// Not here:  branches that read a sum (SumsInBranches.h), copies into shared memory (Pipeline.h), the instructions
//            (emit/DotWgmma.cpp).
//
// Idea: a sum that a loop carries from product to product, and that nothing else in the loop reads, needs no wait
//       (branches that read it wait themselves): what has to wait is the next write to the shared memory that the products
//       read. Where all of it has a buffer for each of several iterations, a product is waited for one iteration later,
//       behind the next one; where some has one buffer, right before that is written again. What the next iteration does
//       something else with (a softmax scales its sum) is in flight until that: all products are waited for there.
// Invariant: nothing is in flight when the loop has ended.
#pragma once
#include "codegen/dialect/TWG.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

namespace tiletwin::codegen {

/// Waits, and gives all users of the sums what was waited for.
void waitForSums(mlir::OpBuilder& builder, mlir::Location where, unsigned pending, mlir::ValueRange sums);

/// The first operation of the allocation's block in which something reads it.
mlir::Operation* firstReader(twg::LocalAllocOp allocation);

class DotsInFlight {
public:
  /// isBuffered: whether an allocation of the loop's body gets a buffer for each of several iterations.
  DotsInFlight(mlir::scf::ForOp loop, llvm::function_ref<bool(twg::LocalAllocOp)> isBuffered);
  bool any() const { return !sums_.empty(); }
  /// True if all memory that the loop writes and they read has several buffers.
  bool areBuffered() const { return single_.empty(); }
  /// True if the loop's products stand on both sides of its waits, and none between them.
  bool haveWorkBetween() { return single_.empty() && sums_.size() == 1 && firstRead() && waitedInFrontOf(firstRead()); }
  /// Marks the products and writes the waits. Gives the barrier in the loop's body behind which nothing reads any more
  /// what products of earlier iterations read.
  mlir::Operation* rewrite();
  /// The barrier that `rewrite` has put into the loop's body; null: no product of it is in flight.
  static mlir::Operation* barrierIn(mlir::scf::ForOp loop);

private:
  /// A loop-carried sum and the products that add to it, in order.
  struct Sum {
    unsigned number;
    mlir::SmallVector<twg::WarpgroupDotOp, 2> dots;
    /// The operation of the loop's body that first needs the sum of the iteration before, or registers that its products
    /// read; null: products alone do.
    mlir::Operation* reader = nullptr;
  };
  bool findAddedUp(Sum& sum);
  bool comesFromAnother(Sum& sum);
  bool findRead(Sum& sum);
  bool isMemoryThatStays(mlir::Value memory, llvm::function_ref<bool(twg::LocalAllocOp)> isBuffered);
  bool areRegistersThatStay(mlir::Value matrix, Sum& sum);
  mlir::Operation* firstWrite();
  mlir::Operation* firstRead();
  twg::WarpgroupDotOp waitedInFrontOf(mlir::Operation* end);
  void fixRegisters();
  mlir::Operation* wait();

  mlir::scf::ForOp loop_;
  mlir::SmallVector<Sum, 2> sums_;
  llvm::SetVector<twg::LocalAllocOp> single_; ///< memory in the loop's body that has one buffer
};

} // namespace tiletwin::codegen
