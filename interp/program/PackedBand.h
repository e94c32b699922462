// interp/program/PackedBand.h -- packed operands of a loop's dots that the next programs of a thread read, too.
// Here:      which part of memory stands where, when a part is packed again.
// Not here:  packing (interp/tile/Dot.h).
// Idea:      programs of one column of a matrix product read the same b, one after the other. The second one that begins where the last
//            one began leaves what it packs. What each thread keeps fits its second-level cache.
// Invariant: a part is taken from here only if no program of the launch may write it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tiletwin::interp {

/// In a frame; all zero when a launch begins.
struct PackedBand {
  static constexpr int kMost = 32;
  /// What is multiplied at a time: steps of a loop, each as far from the last one.
  struct Batch {
    const std::byte* at; ///< null: not to be found again
    int64_t step;
    int32_t steps;
  };
  const std::byte* first;         ///< where the last loop began
  int64_t row, col;               ///< strides in elements
  int32_t batches, current, step; ///< current: its number + 1; 0: none
  bool fills;
  Batch batch[kMost];

  /// A loop begins to read at b.
  void beginLoop(const std::byte* b, int64_t rowStride, int64_t colStride) {
    fills = b == first && rowStride == row && colStride == col;
    if (!fills) batches = 0;
    first = b;
    row = rowStride;
    col = colStride;
  }
  /// A batch begins with the step at b. Returns whether that is there, packed.
  bool begin(const std::byte* b, int32_t room) {
    step = 0;
    for (int32_t i = 0; i < batches; ++i) {
      const int32_t tried = (current + i) % batches; // mostly the one behind the last
      if (batch[tried].at != b) continue;
      current = tried + 1;
      return true;
    }
    current = fills && batches < room ? ++batches : 0;
    if (current) batch[current - 1] = {b, 0, 1};
    return false;
  }
  /// The same for the next step of the batch.
  bool goOn(const std::byte* b, bool isSettled) {
    Batch& now = batch[current - 1];
    ++step;
    const bool fits =
        isSettled && now.at && step <= now.steps && ((step == 1 && now.steps == 1) || b == now.at + step * now.step);
    if (!fits) now.at = nullptr; // it is packed behind what is there, for this time
    if (!fits || step < now.steps) return fits;
    if (step == 1) now.step = b - now.at;
    ++now.steps;
    return false;
  }
};

} // namespace tiletwin::interp
