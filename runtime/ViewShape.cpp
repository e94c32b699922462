// runtime/ViewShape.cpp -- see ViewShape.h.
#include "runtime/ViewShape.h"
#include <algorithm>

namespace tiletwin {

ViewShape::ViewShape(uintptr_t first, std::span<const int64_t> shape, std::span<const int64_t> strides,
                     int64_t elementBytes)
    : begin_(first), end_(first) {
  std::vector<Dim> dims;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) return;
    if (shape[d] == 1 || strides[d] == 0) continue;
    if (strides[d] < 0) begin_ += uintptr_t((shape[d] - 1) * strides[d]);
    dims.push_back({shape[d], std::abs(strides[d])});
  }
  std::sort(dims.begin(), dims.end(), [](const Dim& a, const Dim& b) { return a.stride < b.stride; });
  run_ = elementBytes;
  int64_t reach = elementBytes; // of what is inside
  bool nested = true;
  for (const Dim& d : dims) {
    const int64_t span = (d.count - 1) * d.stride + reach;
    if (dims_.empty() && d.stride <= run_)
      run_ = span;
    else
      dims_.insert(dims_.begin(), d);
    nested &= dims_.empty() || d.stride >= reach;
    reach = span;
  }
  end_ = begin_ + uintptr_t(reach);
  if (nested) return;
  dims_.clear();
  run_ = reach;
}

bool ViewShape::contains(uintptr_t lo, uintptr_t hi) const {
  if (lo < begin_ || hi > end_) return false;
  int64_t offset = int64_t(lo - begin_);
  for (const Dim& d : dims_) offset -= std::min(offset / d.stride, d.count - 1) * d.stride;
  return offset + int64_t(hi - lo) <= run_;
}

} // namespace tiletwin
