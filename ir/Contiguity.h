// ir/Contiguity.h -- what is known of integers and pointers along each dimension of a tile: runs, divisors, repetitions.
//
// Here:      the analysis, for one function, on demand.
// Not here:  what a compiler makes of it (SharedMemory.cpp).
// Invariant: everything it says holds in every program, given the divisibility that the arguments promise; what it does not
//            know is 1.
#pragma once
#include "ir/TT.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>
#include <unordered_map>

namespace mlir::scf {
class ForOp;
}

namespace tiletwin::tt {

/// Along one dimension. All are powers of two; 0 occurs nowhere.
struct AlongDimension {
  int64_t contiguous = 1; ///< aligned groups of this many elements count up by 1
  int64_t divisor = 1;    ///< divides the first element of each such group; of pointers, in bytes
  int64_t constant = 1;   ///< aligned groups of this many elements are equal
};

struct Contiguity {
  llvm::SmallVector<AlongDimension> dimensions; ///< one entry for a scalar
  std::optional<int64_t> value;                 ///< of all elements, if it is known
  bool notNegative = false;                     ///< no element is below zero, as long as no sum or product wraps around
};

class ContiguityAnalysis {
public:
  /// Of an integer or pointer, a tile of them, or a mask. The reference holds as long as the analysis.
  const Contiguity& of(mlir::Value value);
  /// From now on it speaks of elements where a mask of their tile is true: what the mask says of numbers from below holds.
  /// False if it says nothing of that kind. Before the first question.
  bool assumeMask(mlir::Value mask);

private:
  Contiguity compute(mlir::Value value);
  Contiguity ofArgument(mlir::BlockArgument argument);
  Contiguity ofBinary(mlir::Operation* op);
  /// Of a tile whose elements stand elsewhere in the tile that the mask is for.
  Contiguity ofMoved(mlir::Value tile);
  bool isNotNegative(mlir::Operation* op, const Contiguity& a, const Contiguity& b) const;
  /// Assumes of every value that the loop carries what holds at first, and takes back what the body does not keep.
  void assumeCarriedValues(mlir::scf::ForOp loop);

  std::unordered_map<void*, Contiguity> known_; ///< by value; what it returned stays where it is while others are added
  llvm::DenseMap<mlir::Value, int64_t> atLeast_;    ///< what the mask says
  llvm::DenseMap<mlir::Value, Contiguity> assumed_; ///< of values that loops carry: as found, or while it is looked for
};

} // namespace tiletwin::tt
