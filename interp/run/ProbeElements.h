// interp/run/ProbeElements.h -- the lanes of a probed access, one by one or as runs of bytes.
// Here:      each form of ProbeAccessOp, evaluated for the program at hand.
// Not here:  what is done with them (check/MemoryCheck.cpp).
// Invariant: as in the access itself, a lane that is masked off has no address.
#pragma once
#include "interp/check/AccessRuns.h"
#include "interp/program/ProbeAccess.h"
#include "interp/run/DescriptorRows.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::interp {

/// The box of a block access, clipped to the tile. False: it is empty.
inline bool clippedBox(const Access& a, Frame& f, int64_t* lo, int64_t* hi) {
  for (size_t d = 0; d < a.shape.size(); ++d) {
    lo[d] = a.masked ? std::max<int64_t>(0, a.lo[d].get(f)) : 0;
    hi[d] = a.masked ? std::min<int64_t>(a.shape[d], a.hi[d].get(f)) : a.shape[d];
    if (lo[d] >= hi[d]) return false;
  }
  return true;
}

/// visit(lo, hi) for runs of bytes that together are the access.
template <class Visit> void eachRun(const ProbeAccessOp& op, Frame& f, Visit&& visit) {
  const Access& a = op.access;
  const int64_t bytes = a.elementBytes;
  switch (op.form) {
  case ProbeAccessOp::Form::Block:
  case ProbeAccessOp::Form::Rows: {
    int64_t lo[kMaxRank], hi[kMaxRank];
    if (!clippedBox(a, f, lo, hi)) return;
    const bool isRows = op.form == ProbeAccessOp::Form::Rows;
    const int64_t* table = isRows ? &f.at<int64_t>(op.table.v) : nullptr;
    const int64_t first = isRows ? lo[op.tableDim] : 0, last = isRows ? hi[op.tableDim] : 1;
    for (int64_t i = first; i < last; ++i) {
      BlockRuns runs(uintptr_t(a.base.get(f)) + (isRows ? uintptr_t(table[i]) : 0), bytes);
      for (size_t d = 0; d < a.shape.size(); ++d)
        if (isRows && int(d) == op.tableDim)
          runs.addDim(i, i + 1, a.strides[d].get(f));
        else
          runs.addDim(lo[d], hi[d], a.strides[d].get(f));
      runs.merge();
      runs.each(visit);
    }
    return;
  }
  case ProbeAccessOp::Form::Addresses:
    AddressRuns{&f.at<uint64_t>(op.address.v), op.hasMask ? &f.at<uint8_t>(op.mask.v) : nullptr, op.elements, bytes}
        .each(visit);
    return;
  case ProbeAccessOp::Form::Scalar:
    if (op.hasMask && !(f.at<int64_t>(op.mask.v) & 1)) return;
    AddressRuns{&f.at<uint64_t>(op.address.v), nullptr, 1, bytes}.each(visit);
    return;
  case ProbeAccessOp::Form::DescriptorRows: {
    const DescriptorRowsRange range(*op.rows, f);
    for (int64_t i = 0; i < op.rows->shape[0]; ++i) {
      uintptr_t address;
      if (!range.row(*op.rows, f, i, address)) continue;
      BlockRuns(address, (range.last - range.first) * bytes).each(visit);
    }
    return;
  }
  }
}

/// visit(element, address) for every lane, in row-major order.
template <class Visit> void eachElement(const ProbeAccessOp& op, Frame& f, Visit&& visit) {
  const Access& a = op.access;
  switch (op.form) {
  case ProbeAccessOp::Form::Block:
  case ProbeAccessOp::Form::Rows: {
    int64_t lo[kMaxRank], hi[kMaxRank], index[kMaxRank];
    if (!clippedBox(a, f, lo, hi)) return;
    const size_t rank = a.shape.size();
    std::copy(lo, lo + rank, index);
    do {
      uintptr_t address = uintptr_t(a.base.get(f));
      int64_t element = 0;
      for (size_t d = 0; d < rank; ++d) {
        address += uintptr_t(index[d] * a.strides[d].get(f));
        element = element * a.shape[d] + index[d];
      }
      if (op.form == ProbeAccessOp::Form::Rows) address += uintptr_t((&f.at<int64_t>(op.table.v))[index[op.tableDim]]);
      visit(element, address);
    } while (nextIndex(rank, index, lo, hi));
    return;
  }
  case ProbeAccessOp::Form::Addresses:
    for (int64_t i = 0; i < op.elements; ++i)
      if (!op.hasMask || (&f.at<uint8_t>(op.mask.v))[i]) visit(i, (&f.at<uint64_t>(op.address.v))[i]);
    return;
  case ProbeAccessOp::Form::Scalar:
    if (!op.hasMask || (f.at<int64_t>(op.mask.v) & 1)) visit(int64_t(-1), f.at<uint64_t>(op.address.v));
    return;
  case ProbeAccessOp::Form::DescriptorRows: {
    const DescriptorRowsRange range(*op.rows, f);
    for (int64_t i = 0; i < op.rows->shape[0]; ++i) {
      uintptr_t address;
      if (!range.row(*op.rows, f, i, address)) continue;
      for (int64_t c = range.first; c < range.last; ++c)
        visit(i * op.rows->shape[1] + c, address + uintptr_t((c - range.first) * a.elementBytes));
    }
    return;
  }
  }
}

} // namespace tiletwin::interp
