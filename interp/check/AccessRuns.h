// interp/check/AccessRuns.h -- one access to memory as runs of bytes: what checks of memory look at.
//
// Here:      blocks (affine addresses inside a box), lists of addresses, and the walk over their runs.
// Not here:  how an instruction's operands become one of these (program/ProbeAccess.h).
// Invariant: runs are not empty and cover exactly the bytes of the lanes that are accessed; a byte may occur twice.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tiletwin::interp {

/// Runs of `runBytes` bytes at base + sum strides[d] * i_d, 0 <= i_d < counts[d].
struct BlockRuns {
  static constexpr int kMaxRank = 24;
  uintptr_t base = 0;
  int64_t runBytes = 0;
  int rank = 0;
  int64_t counts[kMaxRank], strides[kMaxRank];

  BlockRuns(uintptr_t base, int64_t elementBytes) : base(base), runBytes(elementBytes) {}
  /// Before merge().
  void addDim(int64_t first, int64_t last, int64_t stride) {
    base += uintptr_t(first * stride);
    const int64_t count = last - first;
    if (count == 1 || stride == 0) return;
    if (stride < 0) base += uintptr_t((count - 1) * stride);
    counts[rank] = count;
    strides[rank++] = stride < 0 ? -stride : stride;
  }
  /// Joins dimensions without holes into the run. Call once, after all dimensions.
  void merge() {
    for (;;) {
      int smallest = 0;
      for (int d = 1; d < rank; ++d)
        if (strides[d] < strides[smallest]) smallest = d;
      if (rank == 0 || strides[smallest] > runBytes) break;
      runBytes += (counts[smallest] - 1) * strides[smallest];
      --rank;
      counts[smallest] = counts[rank];
      strides[smallest] = strides[rank];
    }
    // The dimension with the smallest stride is walked innermost.
    for (int i = 1; i < rank; ++i)
      for (int d = i; d > 0 && strides[d] > strides[d - 1]; --d) {
        std::swap(strides[d], strides[d - 1]);
        std::swap(counts[d], counts[d - 1]);
      }
  }
  uintptr_t begin() const { return base; }
  uintptr_t end() const {
    uintptr_t end = base + uintptr_t(runBytes);
    for (int d = 0; d < rank; ++d) end += uintptr_t((counts[d] - 1) * strides[d]);
    return end;
  }
  /// visit(lo, hi) for every run.
  template <class Visit> void each(Visit&& visit) const {
    int64_t index[kMaxRank] = {};
    uintptr_t at = base;
    for (;;) {
      visit(at, at + uintptr_t(runBytes));
      int d = rank;
      for (;;) {
        if (d == 0) return;
        --d;
        at += uintptr_t(strides[d]);
        if (++index[d] < counts[d]) break;
        at -= uintptr_t(counts[d] * strides[d]);
        index[d] = 0;
      }
    }
  }
};

/// Elements at any addresses; lanes with mask 0 access nothing.
struct AddressRuns {
  const uint64_t* address = nullptr;
  const uint8_t* mask = nullptr; ///< null: all
  int64_t count = 0, elementBytes = 0;

  template <class Visit> void each(Visit&& visit) const {
    for (int64_t i = 0; i < count;) {
      if (mask && !mask[i]) {
        ++i;
        continue;
      }
      const uintptr_t lo = address[i];
      uintptr_t hi = lo + uintptr_t(elementBytes);
      for (++i; i < count && address[i] == hi && (!mask || mask[i]); ++i) hi += uintptr_t(elementBytes);
      visit(lo, hi);
    }
  }
};

} // namespace tiletwin::interp
