// codegen/layout/Span.cpp -- see Span.h.
#include "codegen/layout/Span.h"
#include "llvm/ADT/bit.h"

namespace tiletwin::codegen {

Span::Row Span::reduce(Row row) const {
  // A row holds no leading bit of the rows before it, so going through them once clears all.
  for (const Row& other : rows_)
    if (row.vector & llvm::bit_floor(other.vector)) row.vector ^= other.vector, row.sources ^= other.sources;
  return row;
}

bool Span::add(uint32_t vector) {
  Row row = reduce({vector, 1u << vectors_.size()});
  if (row.vector == 0) return false;
  rows_.push_back(row);
  vectors_.push_back(vector);
  return true;
}

std::optional<uint32_t> Span::coordinates(uint32_t vector) const {
  Row row = reduce({vector, 0});
  if (row.vector) return std::nullopt;
  return row.sources;
}

uint32_t Span::sum(uint32_t coordinates) const {
  uint32_t result = 0;
  for (unsigned i = 0; i < vectors_.size(); ++i)
    if (coordinates >> i & 1) result ^= vectors_[i];
  return result;
}

Vectors intersection(const Span& a, const Span& b) {
  Span both = a;
  Vectors result;
  uint32_t fromA = (1u << a.dimension()) - 1;
  for (uint32_t vector : b.vectors()) {
    std::optional<uint32_t> known = both.coordinates(vector);
    if (!known) both.add(vector);
    // vector = (sum of a's) + (sum of b's that came before): the first sum lies in both.
    else if (*known & fromA)
      result.push_back(a.sum(*known & fromA));
  }
  return result;
}

uint32_t outsideOfBoth(const Span& a, const Span& b, llvm::ArrayRef<uint32_t> candidates) {
  uint32_t notInA = 0, notInB = 0;
  for (uint32_t vector : candidates) {
    bool inA = a.contains(vector), inB = b.contains(vector);
    if (!inA && !inB) return vector;
    if (!inA && !notInA) notInA = vector;
    if (!inB && !notInB) notInB = vector;
  }
  // Each of the two lies in the other span, or it would have been taken.
  return notInA && notInB ? notInA ^ notInB : 0;
}

} // namespace tiletwin::codegen
