// runtime/ViewShape.h -- which bytes belong to the elements of an array's view: shape and strides, not only extents.
// Here:      the test whether a run of bytes is made of elements.
// Not here:  storages (Buffer.h); who asks (interp/check).
// Invariant: a view whose dimensions overlap in a way that has no simple form counts as dense from its first to its last
//            byte: then only extents are tested.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace tiletwin {

class ViewShape {
public:
  /// `first`: address of element (0, .., 0). Strides in bytes; they may be 0 or negative.
  ViewShape(uintptr_t first, std::span<const int64_t> shape, std::span<const int64_t> strides, int64_t elementBytes);
  /// Whether every byte of [lo, hi) belongs to an element.
  bool contains(uintptr_t lo, uintptr_t hi) const;
  /// Whether every byte from the first to the last belongs to an element, as far as `contains` knows.
  bool isDense() const { return dims_.empty(); }
  uintptr_t begin() const { return begin_; }
  uintptr_t end() const { return end_; }

private:
  struct Dim {
    int64_t count, stride;
  };
  uintptr_t begin_ = 0, end_ = 0; ///< equal: no elements
  int64_t run_ = 0;               ///< bytes of elements without a hole
  std::vector<Dim> dims_;         ///< of such runs, the outermost first; each stride is at least what is inside of it
};

} // namespace tiletwin
