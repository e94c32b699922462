// diff/Compare.h -- two runs of one launch, buffer by buffer: which elements are the same, which differ, and by how much.
//
// Here:      the verdict on every element of two arrays of one type under given bounds; counts, the first and the worst.
// Not here:  where bounds come from (Bounds.h), launches, files and reports (python/tiletwin/diff).
// Idea:      equal bytes are skipped by blocks; in the others one pass without branches says how far apart elements are.
//
// When are two elements the same?
//   - equal bits; two NaNs, whatever their signs and payloads; +0 and -0 (counted: `zeroSigns`).
//   - within the bound: |a - b| <= bound * 1.01. The 1% covers the rounding of the bound itself, which is computed in f32.
//     Of integers of n bits the distance counts modulo 2^n, as sums of them do: 0 - 1 and 0 are 1 apart, not 2^n - 1.
//   - an infinity and a number that is within the bound of the largest finite one: one side has just overflowed.
// A bound that is infinite or NaN says that nothing is known: if such elements differ, they are *not comparable*.
// A NaN and a number differ under every finite bound. Without bounds the bound is 0 everywhere.
#pragma once
#include "runtime/DType.h"
#include <cstddef>
#include <cstdint>

namespace tiletwin::diff {

enum class Verdict : uint8_t { Same, Within, Different, NotComparable };

struct Comparison {
  int64_t elements = 0;
  int64_t same = 0;          ///< equal bits, NaN and NaN, +0 and -0
  int64_t zeroSigns = 0;     ///< of those: +0 and -0
  int64_t within = 0;        ///< not equal, but within a finite bound
  int64_t different = 0;     ///< further apart than that
  int64_t notComparable = 0; ///< not equal, and the bound is infinite or NaN
  int64_t first = -1;        ///< the lowest index of a different element; -1: none
  int64_t firstNotComparable = -1;
  /// Of all elements that are not the same, NaNs left out: the largest distance in units of the last place (integers: the
  /// largest difference), and the lowest index that has it.
  uint64_t worstUlp = 0;
  int64_t worst = -1;
};

struct Compared {
  const void* a = nullptr; ///< `count` elements of `type`, dense; any alignment
  const void* b = nullptr;
  const float* bounds = nullptr; ///< absolute, one an element; null: 0 everywhere
  DType type = DType::F32;
  bool isUnsigned = false; ///< integers: as the array has it
  int64_t count = 0;
};

/// Compares; `verdicts`, if not null, gets one of Verdict for each element.
Comparison compare(const Compared& arrays, uint8_t* verdicts = nullptr);

/// How many representable numbers lie from a to b, both of `type` (+0 and -0 are one). NaN: the largest distance.
uint64_t ulpDistance(DType type, uint64_t a, uint64_t b);

} // namespace tiletwin::diff
