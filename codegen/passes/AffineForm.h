// codegen/passes/AffineForm.h -- integers and pointers of a loop as sums of products: what their addresses are made of.
//
// Here:      the sums, how the values of a loop become such sums, and under which conditions they are the values.
// Not here:  what is made of a load whose pointers are such a sum (AffineLoads.h).
// Idea: arithmetic of 32 bits is that of integers as long as no result that is widened or compared passes 32 bits, and
//       `x % n` is x where 0 <= x < n. Each value that is looked at leaves such conditions behind: sums that may not be
//       negative, in any element of a tile and in any iteration.
// Invariant: where all conditions hold, a sum has the value's number in every element and iteration.
#pragma once
#include "ir/TT.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace tiletwin::codegen {

/// What a number of a sum is multiplied by: arguments of the kernel, and at most one value that changes.
struct Factors {
  std::vector<unsigned> arguments; ///< numbers of the kernel's arguments, ascending, repeated as often as they occur
  int scalar = -1;                 ///< number of a value that is computed in front of the loop (AffineForms::scalar)
  int along = -1;                  ///< dimension of the tile: the element's index there; or one of these two
  static constexpr int kIteration = 100; ///< the iteration's number, from 0 on
  static constexpr int kLast = 101;      ///< the last iteration's number, 0 if there is none

  bool isConstant() const { return scalar < 0 && along < 0; }
  auto operator<=>(const Factors&) const = default;
};

/// A sum of numbers, each times its factors. No number is 0.
using Sum = std::map<Factors, int64_t>;

Sum sumOf(int64_t number);
/// None where a number is larger than any of an address, or the sum longer.
std::optional<Sum> plus(const Sum& a, const Sum& b, int64_t times = 1);
/// The number of a sum that is one.
std::optional<int64_t> numberOf(const Sum& sum);
/// Whether the sum has no other factors than the kernel's arguments.
bool isOfArguments(const Sum& sum);

/// Pointers: `offset` elements behind an argument.
struct AffinePointers {
  mlir::BlockArgument base;
  Sum offset;
};

/// Of one loop.
class AffineForms {
public:
  explicit AffineForms(mlir::scf::ForOp loop);

  /// Of an integer or a tile of integers; none if they are no such sum.
  std::optional<Sum> of(mlir::Value value);
  std::optional<AffinePointers> pointers(mlir::Value value);
  /// Sums that are all 0 or more where a mask is true, and only there; none if the mask is something else.
  std::optional<std::vector<Sum>> mask(mlir::Value value);

  /// From now on the sum, of a tile of that shape, may not be below 0. None: it cannot be said, and so nothing holds.
  void require(const std::optional<Sum>& sum, llvm::ArrayRef<int64_t> shape);
  /// False if one condition could not be said.
  bool areConditionsKnown() const { return areKnown_; }
  /// All conditions, as sums that may not be below 0. No factor is a tile's dimension or an iteration.
  const std::set<Sum>& conditions() const { return conditions_; }
  /// Of a value that is never below 0 by itself: a program's number.
  static bool isNeverNegative(mlir::Value scalar);
  mlir::Value scalar(int number) const { return scalars_[size_t(number)]; }
  /// Of the loop; 0: it is no number above 0, and nothing that changes in the loop is a sum.
  int64_t step() const { return step_; }

private:
  /// What a value is made of.
  struct Form {
    std::optional<mlir::BlockArgument> base; ///< of pointers
    Sum sum;
  };
  using Formed = std::optional<Form>;

  Formed form(mlir::Value value);
  Formed compute(mlir::Value value);
  Formed ofArgument(mlir::BlockArgument argument);
  Formed ofCarried(mlir::BlockArgument argument);
  Formed ofScalar(mlir::Value value);
  Formed chosen(mlir::arith::SelectOp select);
  Formed smaller(mlir::arith::MinSIOp least);
  Formed product(const Form& a, const Form& b) const;
  Formed moved(mlir::Value source, unsigned axis);
  /// The number fits into an integer of so many bits.
  void requireFits(const Sum& sum, mlir::Value value);
  bool isInLoop(mlir::Value value) const;

  mlir::scf::ForOp loop_;
  int64_t step_ = 0;
  bool areKnown_ = true;
  llvm::DenseMap<mlir::Value, Formed> known_;
  std::vector<mlir::Value> scalars_;
  std::set<Sum> conditions_;
};

} // namespace tiletwin::codegen
