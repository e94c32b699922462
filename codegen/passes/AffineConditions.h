// codegen/passes/AffineConditions.h -- the conditions of a loop's affine forms, as operations in front of the loop.
// Here:      what a program computes, and what it relies on the launcher for. Not here: the conditions themselves (AffineForm.h).
// Invariant: nothing that is computed passes 64 bits as long as the parts that are compared before hold.
#pragma once
#include "codegen/passes/AffineForm.h"
#include "mlir/IR/Builders.h"

namespace tiletwin::codegen {

class AffineConditions {
public:
  AffineConditions(mlir::scf::ForOp loop, AffineForms& forms) : loop_(loop), forms_(forms) {}

  /// False if they cannot be computed.
  bool find();
  /// An i1: `allowed`, and all conditions hold.
  mlir::Value emit(mlir::OpBuilder& builder, mlir::Value allowed);
  /// Sums of arguments that lie from 1 to 2^30 - 1, or the launcher does not allow it.
  const std::set<Sum>& positive() const { return positive_; }

private:
  /// A sum's terms with the same arguments, without these.
  using Groups = std::map<std::vector<unsigned>, Sum>;
  static Groups groupsOf(const Sum& sum);
  mlir::Value inner(mlir::OpBuilder& builder, const Sum& sum);
  mlir::Value valueOf(mlir::OpBuilder& builder, const Factors& factors);
  mlir::Value last(mlir::OpBuilder& builder);
  mlir::Value wide(mlir::OpBuilder& builder, mlir::Value number);
  mlir::Value constant(mlir::OpBuilder& builder, int64_t number);
  void andAtLeast(mlir::OpBuilder& builder, mlir::Value number, int64_t least);

  mutable mlir::scf::ForOp loop_;
  AffineForms& forms_;
  void add(Sum sum);
  double leastOf(const Sum& sum) const;

  std::map<Sum, int64_t> least_; ///< sums without their numbers, each at least so much
  std::set<Sum> positive_;
  mlir::Value last_, holds_;
};

/// How far the loop's variable is from its first value, an i32, in the body.
mlir::Value distanceIn(mlir::OpBuilder& builder, mlir::scf::ForOp loop);

/// Gives branches of one block one condition, under which all of theirs hold, where those can be computed in front of the first
/// one. A kernel then uses the memory of either all branches or all their alternatives (SharedMemory.h). In program order.
void decideAtOnce(mlir::ArrayRef<mlir::scf::IfOp> branches);

} // namespace tiletwin::codegen
