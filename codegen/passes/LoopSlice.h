// codegen/passes/LoopSlice.h -- what some values of a loop's body are computed from, to compute them iterations ahead.
// Idea: the slice is computed once more, with loop-carried values of its own that run ahead of the loop's.
// Here:      the slice, whether an iteration still lies in the loop.
// Not here:  what is done ahead (Ring.h).
#pragma once
#include "ir/TT.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

namespace tiletwin::codegen {

/// True if an iteration may see what other programs, or the user's own instructions, write meanwhile.
bool mayWaitForOthers(mlir::scf::ForOp loop);

/// The loop around all loops around an operation; the operation itself if there is none.
mlir::Operation* outermostLoop(mlir::Operation* op);

/// Nothing is loaded where `enabled`, an i1, is false.
void loadOnlyIf(mlir::OpBuilder& builder, tt::LoadOp load, mlir::Value enabled);

class LoopSlice {
public:
  explicit LoopSlice(mlir::scf::ForOp loop) : loop_(loop) {}

  /// Adds values of the body; false if they cannot be computed ahead: they come from large operations or from memory, unless
  /// it is a line of numbers that nobody writes.
  bool add(mlir::ValueRange values);
  /// Computes the slice at the builder for an iteration of that induction variable, with the slice's carried values. Gives
  /// the carried values of the next iteration, and the slice's values by `mapping`. enabled: the loop has that iteration;
  /// nothing is loaded for others.
  mlir::SmallVector<mlir::Value> compute(mlir::OpBuilder& builder, mlir::Value iteration, mlir::Value enabled,
                                         mlir::ValueRange carried, mlir::IRMapping& mapping) const;
  /// Computes the slice before the loop for its first `count` iterations: begin(number, the slice's values, an i1: the loop
  /// has that iteration). Gives the carried values of the next one.
  mlir::SmallVector<mlir::Value>
  computeFirst(mlir::OpBuilder& builder, int count,
               llvm::function_ref<void(int, const mlir::IRMapping&, mlir::Value)> begin) const;
  /// Puts a loop that carries more values, and has its attributes, in the loop's place: `extend` as scf.for has it.
  mlir::scf::ForOp carryOn(mlir::RewriterBase& rewriter, mlir::ValueRange initial,
                           const mlir::NewYieldValuesFn& extend) const;

  mlir::Value constant(mlir::OpBuilder& builder, mlir::Type type, int64_t number) const;
  /// The induction variable `ahead` iterations behind one that is `from`.
  mlir::Value iterationAfter(mlir::OpBuilder& builder, mlir::Value from, int64_t ahead) const;
  /// Whether the iteration `ahead` of the one of `from`, which lies in the loop, does too. Distances are unsigned numbers
  /// and do not wrap.
  mlir::Value isWithin(mlir::OpBuilder& builder, mlir::Value from, int64_t ahead) const;

private:
  /// From one iteration to the one that is `ahead` (at least 1) of it.
  mlir::Value distance(mlir::OpBuilder& builder, int64_t ahead) const;

  mutable mlir::scf::ForOp loop_;
  llvm::SetVector<mlir::Operation*> operations_;
  llvm::SetVector<unsigned> carried_; ///< numbers of loop-carried values
};

} // namespace tiletwin::codegen
