// tests/codegen/RandomLayout.h -- random layouts from a seed: bits of the tile dealt to parts, repeated elements, XOR bases.
#pragma once
#include "codegen/layout/LinearLayout.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <random>

namespace tiletwin::codegen::testing {

using Random = std::mt19937;

inline unsigned below(Random& random, unsigned bound) { return unsigned(random() % bound); }

/// A shape of so many elements (log2), with 1 to 4 dimensions; extents of 1 occur.
inline llvm::SmallVector<int64_t> randomShape(Random& random, unsigned bits) {
  llvm::SmallVector<int64_t> shape(1 + below(random, 4), 1);
  for (unsigned i = 0; i < bits; ++i) shape[below(random, shape.size())] *= 2;
  return shape;
}

struct LayoutKind {
  unsigned laneBits = 5, warpBits = 2;
  bool mixes = false;  ///< bases with several bits
  bool repeats = true; ///< zero bases, of registers too
};

/// Element bits in random order, or independent sums of them, for lanes and warps (some repeat elements) and registers.
inline LinearLayout randomLayout(Random& random, llvm::ArrayRef<int64_t> shape, const LayoutKind& kind) {
  LinearLayout flat(shape, {});
  unsigned bits = flat.elementBits();
  llvm::SmallVector<uint32_t> vectors;
  for (unsigned i = 0; i < bits; ++i) vectors.push_back(1u << i);
  std::shuffle(vectors.begin(), vectors.end(), random);
  if (kind.mixes)
    for (unsigned i = 0; bits > 1 && i < 2 * bits; ++i) {
      unsigned a = below(random, bits), b = below(random, bits);
      if (a != b) vectors[a] ^= vectors[b]; // stays independent
    }
  std::array<LinearLayout::Bases, 4> bases;
  size_t next = 0;
  auto deal = [&](Part part, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      bool repeat = next == vectors.size() || (kind.repeats && below(random, 8) == 0);
      bases[size_t(part)].push_back(repeat ? 0 : vectors[next++]);
    }
  };
  deal(Part::Lane, kind.laneBits);
  deal(Part::Warp, kind.warpBits);
  LinearLayout::Bases& registers = bases[size_t(Part::Register)];
  registers.append(vectors.begin() + long(next), vectors.end());
  if (kind.repeats && below(random, 4) == 0)
    registers.insert(registers.begin() + below(random, registers.size() + 1), 0u);
  return LinearLayout(shape, std::move(bases));
}

} // namespace tiletwin::codegen::testing
