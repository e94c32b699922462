// codegen/layout/GatherPlan.h -- where the elements lie that a gather picks: in the warp, so that shuffles bring them, or
// anywhere, so that they go through shared memory.
// Here:      the plan, computed on F2. Not here: the code for it (emit/GatherOps.cpp).
// Idea: where an element lies is linear in its index, and the index is the sum (XOR) of what the register, the lane and the
//       warp of the result say about the other dimensions, and of the picked number.
#pragma once
#include "codegen/layout/LinearLayout.h"
#include "codegen/layout/Span.h"

namespace tiletwin::codegen {

class GatherPlan {
public:
  GatherPlan(const LinearLayout& from, const LinearLayout& to, unsigned axis);

  LinearLayout from, to;
  unsigned axis;
  bool isByShuffles = false;
  // Of a plan by shuffles: source registers and lanes of elements, as columns: what the bits of the picked number, the lane
  // and the warp say.
  struct Columns {
    Vectors lane, place;
  };
  Columns ofPicked, ofLane, ofWarp;
  Vectors registerLanes, registerPlaces; ///< what the result's register bits say
  Span candidates;                       ///< of the registers that may hold an element

  /// The index in the source of an element of the result, the axis at 0.
  uint32_t inSource(uint32_t element) const;
  LinearLayout::Bases inSource(Part part) const;

private:
  bool planShuffles();
};

} // namespace tiletwin::codegen
