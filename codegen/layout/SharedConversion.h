// codegen/layout/SharedConversion.h -- a tile from one layout to another through shared memory: where each element lies in it.
//
// Here:      the order of the elements in memory, vectors of both sides, passes. Not here: code (emit/ConvertLayout.cpp).
//
// Idea: an element's offset is linear in its index, so one vector for each bit of the offset describes it. The lowest
// bits count inside of a vector access, the next ones banks, the highest ones lines of 128 bytes. The hardware serves
// some lanes of a warp together. They have no conflict if no two of them lie in different lines at one bank. So the
// space H of the lines must have only 0 in common with what these lanes (and the words that they access) span, on both
// sides. Both spans are as large as a line at most, so such an H always exists.
//
// Invariant: the bits of a side's vector are decided by its registers alone.
#pragma once
#include "codegen/layout/LinearLayout.h"
#include "codegen/layout/Span.h"

namespace tiletwin::codegen {

struct SharedConversion {
  /// The vectors of the offset's bits, lowest first: a basis. Offsets count elements.
  Span offsets;
  /// log2 of the elements of one access.
  unsigned storeVector = 0, loadVector = 0;
  /// log2 of the number of passes. The highest bits of the offset number them; each needs (elements >> passBits)
  /// elements.
  unsigned passBits = 0;

  /// The offset of an element; offsets of a layout's bases, part by part.
  uint32_t offsetOf(uint32_t element) const { return *offsets.coordinates(element); }
  LinearLayout inMemory(const LinearLayout& layout) const;

  /// elementBytes: 1, 2, 4 or 8. maxBytes: of shared memory for one pass.
  static SharedConversion plan(const LinearLayout& from, const LinearLayout& to, unsigned elementBytes,
                               uint32_t maxBytes);
};

/// Lanes of an access of so many bytes that are served together: 128 bytes in all.
unsigned lanesTogether(unsigned accessBytes);

} // namespace tiletwin::codegen
