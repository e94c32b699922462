// interp/run/ExecuteRows.cpp -- loads whose addresses are affine but for a table along one dimension.
//
// Idea: a table whose entries are evenly spaced, as most are (indices modulo a size that the tile does not cross), is one
// more stride: then the load is an ordinary one and need not copy. Else it is as many ordinary copies as the table has
// evenly spaced runs.
// Here:      the runs, their checks and copies; the proof that 32-bit indices of this form do not wrap around.
// Not here:  how values get this form (plan/Rows.cpp).
// Invariant: as for all loads, a lane outside the box forms no access.
#include "interp/run/Execute.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::interp {

InstructionRef execRowsCheck(InstructionRef in, Frame& f) {
  const RowsCheckOp& op = *static_cast<const RowsCheckOp*>(in->data);
  const int64_t* table = &f.at<int64_t>(op.table.v);
  const int64_t along = op.strides[size_t(op.dim)].get(f);
  int64_t lo = INT64_MAX, hi = INT64_MIN;
  bool overflow = false;
  for (int64_t i = 0; i < op.entries; ++i) {
    int64_t entry;
    overflow |= __builtin_mul_overflow(along, i, &entry);
    overflow |= __builtin_add_overflow(table[i], entry, &entry);
    lo = std::min(lo, entry);
    hi = std::max(hi, entry);
  }
  overflow |= __builtin_add_overflow(lo, op.base.get(f), &lo);
  overflow |= __builtin_add_overflow(hi, op.base.get(f), &hi);
  for (size_t d = 0; d < op.shape.size(); ++d) {
    int64_t span = 0;
    if (int(d) != op.dim) overflow |= __builtin_mul_overflow(op.strides[d].get(f), op.shape[d] - 1, &span);
    overflow |= span < 0 ? __builtin_add_overflow(lo, span, &lo) : __builtin_add_overflow(hi, span, &hi);
  }
  if (overflow || lo < op.min || hi > op.max) [[unlikely]]
    return restart(in, f, lo, hi);
  return in + 1;
}

/// The evenly spaced entries from `first` on: one past the last, and their distance.
static int64_t runEnd(const int64_t* table, int64_t first, int64_t last, int64_t* step) {
  auto distance = [&](int64_t i) {
    return int64_t(uint64_t(table[i]) - uint64_t(table[i - 1]));
  }; // numbers may be wild
  int64_t i = first + 1;
  *step = i < last ? distance(i) : 0;
  while (i < last && distance(i) == *step) ++i;
  return i;
}

InstructionRef execRowsLoad(InstructionRef in, Frame& f) {
  const LoadOp& op = *static_cast<const LoadOp*>(in->data);
  const Access& a = op.access;
  const size_t rank = a.shape.size(), dim = size_t(op.tableDim);
  const int64_t* table = &f.at<int64_t>(op.table.v);
  AccessRange all;
  all.base = uintptr_t(a.base.get(f));
  for (size_t d = 0; d < rank; ++d) {
    all.lo[d] = a.masked ? std::max<int64_t>(0, a.lo[d].get(f)) : 0;
    all.hi[d] = a.masked ? std::min<int64_t>(a.shape[d], a.hi[d].get(f)) : a.shape[d];
    all.strides[d] = a.strides[d].get(f);
    all.empty |= all.lo[d] >= all.hi[d];
    all.full &= all.lo[d] == 0 && all.hi[d] == a.shape[d];
  }
  if (all.empty) {
    all.full = false;
    all.begin = all.end = 0;
    return finishLoad(op, in, f, all);
  }
  const int64_t first = all.lo[dim], last = all.hi[dim];
  auto runFrom = [&](int64_t i, AccessRange& run) {
    int64_t step;
    run = all;
    run.lo[dim] = i;
    run.hi[dim] = runEnd(table, i, last, &step);
    run.strides[dim] = int64_t(uint64_t(run.strides[dim]) + uint64_t(step));
    run.base += uintptr_t(table[i]) - uintptr_t(step) * uintptr_t(i); // element i of the run is at table[i] again
    return run.hi[dim];
  };
  AccessRange run;
  if (runFrom(first, run) == last) {
    if (!checkRange(a, f, in, false, run)) [[unlikely]]
      return nullptr;
    return finishLoad(op, in, f, run);
  }
  for (int64_t i = first; i < last;) {
    i = runFrom(i, run);
    if (!checkRange(a, f, in, false, run)) [[unlikely]]
      return nullptr;
  }
  pointToTile(op, f.at<ViewDescriptor>(op.descriptor.v), f);
  if (!all.full) fillTile(op, all, f, fillOf(op, f));
  for (int64_t i = first; i < last;) {
    i = runFrom(i, run);
    copyBox(a.shape, run.lo, run.hi, reinterpret_cast<const std::byte*>(run.base), run.strides, f.arena + op.tile.v,
            a.elementBytes);
  }
  return in + 1;
}

} // namespace tiletwin::interp
