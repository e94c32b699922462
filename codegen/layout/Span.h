// codegen/layout/Span.h -- spans of vectors over F2: what depends on what, coordinates, intersections, complements.
// Idea: a vector is a word of bits. A span keeps its vectors in the order in which they came, and rows reduced by
//       elimination beside the set of vectors that each row is the sum of.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace tiletwin::codegen {

using Vectors = llvm::SmallVector<uint32_t, 16>;

class Span {
public:
  Span() = default;
  explicit Span(llvm::ArrayRef<uint32_t> vectors) { addAll(vectors); }

  /// Adds a vector; false, and nothing is added, if it is a sum of those that are there (0 is).
  bool add(uint32_t vector);
  void addAll(llvm::ArrayRef<uint32_t> vectors) {
    for (uint32_t vector : vectors) add(vector);
  }
  bool contains(uint32_t vector) const { return reduce({vector, 0}).vector == 0; }
  /// Which of vectors() add up to this one, bit i for vectors()[i]; none if it lies outside.
  std::optional<uint32_t> coordinates(uint32_t vector) const;
  /// The vectors that were added, in that order: a basis.
  const Vectors& vectors() const { return vectors_; }
  unsigned dimension() const { return vectors_.size(); }
  /// The sum of the basis vectors whose bits are set.
  uint32_t sum(uint32_t coordinates) const;

private:
  struct Row {
    uint32_t vector, sources;
  };
  Row reduce(Row row) const;

  Vectors vectors_;
  llvm::SmallVector<Row, 16> rows_;
};

/// A basis of what two spans have in common.
Vectors intersection(const Span& a, const Span& b);

/// A vector that lies in neither span: one of the candidates or a sum of two of them; 0 if one of the spans has all of
/// the candidates. (A space is never the union of two smaller ones, so there is one.)
uint32_t outsideOfBoth(const Span& a, const Span& b, llvm::ArrayRef<uint32_t> candidates);

} // namespace tiletwin::codegen
