// interp/run/ExecuteTile.cpp -- instructions on whole tiles: products, copies, tt.gather, histograms.
// Here:      strides, batches.
// Not here:  reductions, scans, sorting (ExecuteReduce.cpp), elementwise groups (ExecuteGroup.cpp), memory (ExecuteMemory.cpp).
// Invariant: operands are where the plan put them; nothing outside the tiles is touched.
#include "interp/program/PackedBand.h"
#include "interp/run/Execute.h"
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace tiletwin::interp {

namespace {

/// Where the dots of this thread read last. Those of a loop mostly read at a fixed distance from the time before.
struct Reads {
  const DotOp* op = nullptr;
  const std::byte *a = nullptr, *b = nullptr;
};

/// As far from `now` as that is from `before`; null if that is nowhere near, or the same.
const std::byte* expected(const std::byte* now, const std::byte* before) {
  constexpr int64_t kFar = int64_t(4) << 20; // a jump rather than a step
  const int64_t step = int64_t(uintptr_t(now) - uintptr_t(before));
  return step == 0 || step <= -kFar || step >= kFar ? nullptr : now + step;
}

void expectReads(const DotOp& op, const std::byte* a, const std::byte* b, TwDot& dot) {
  static thread_local std::array<Reads, 8> table;
  Reads& last = table[uintptr_t(&op) / sizeof(DotOp) % table.size()];
  if (last.op == &op) {
    dot.aNext = expected(a, last.a);
    dot.bNext = expected(b, last.b);
  }
  last = {&op, a, b};
}

void takeState(const DotOp& op, Frame& f, TwDot& dot) {
  dot.holds = op.holds;
  dot.keepsA = op.keepsA;
  dot.keepsB = op.keepsB;
  if (op.holds || op.keepsA || op.keepsB || op.batches) dot.state = &f.at<TwDotState>(op.state.v);
}

std::byte* currentBatch(const DotOp& op, const PackedBand& band, Frame& f) {
  return band.current ? f.arena + op.packed.v + (band.current - 1) * op.batchBytes : nullptr;
}

/// Where b stands, or shall be put, for programs that read the same.
void findPacked(const DotOp& op, const std::byte* b, Frame& f, TwDot& dot) {
  PackedBand& band = f.at<PackedBand>(op.band.v);
  const ViewDescriptor& view = f.at<ViewDescriptor>(op.b.base.v);
  const int32_t root = op.b.view->access.root;
  const bool isSettled = view.lo != view.hi && root >= 0 && f.launch->extents[size_t(root)].settled;
  if (dot.state->held > 0) {
    if (!band.current) return;
    dot.bIsThere = band.goOn(b, isSettled);
  } else if (!isSettled) {
    band.current = 0;
    return;
  } else {
    if (!dot.state->begun) band.beginLoop(b, dot.bRow, dot.bCol);
    dot.state->begun = true;
    dot.bIsThere = band.begin(b, op.batches);
  }
  dot.bPacked = currentBatch(op, band, f);
  if (dot.bIsThere) dot.bNext = nullptr;
}

} // namespace

InstructionRef execDotEnd(InstructionRef in, Frame& f) {
  const DotOp& op = *static_cast<const DotOp*>(in->data);
  TwDot dot{};
  dot.m = op.m;
  dot.n = op.n;
  dot.cRow = dot.dRow = op.n;
  dot.c = dot.d = f.arena + op.d.v;
  dot.scratch = f.arena + op.scratch.v;
  takeState(op, f, dot);
  if (op.batches && f.launch->hasOptional) dot.bPacked = currentBatch(op, f.at<PackedBand>(op.band.v), f);
  op.fn(&dot);
  return in + 1;
}

InstructionRef execDot(InstructionRef in, Frame& f) {
  const DotOp& op = *static_cast<const DotOp*>(in->data);
  int64_t sa[3], sb[3];
  std::byte *a = resolve(op.a, f, sa), *b = resolve(op.b, f, sb);
  const size_t r = op.a.strides.size();
  TwDot dot;
  dot.m = op.m;
  dot.n = op.n;
  dot.k = op.k;
  dot.aRow = sa[r - 2] / op.aBytes;
  dot.aCol = sa[r - 1] / op.aBytes;
  dot.bRow = sb[r - 2] / op.bBytes;
  dot.bCol = sb[r - 1] / op.bBytes;
  dot.cRow = dot.dRow = op.n;
  dot.scratch = f.arena + op.scratch.v;
  // Strides that are no multiples of the element (byte-wise pointer arithmetic): copy.
  if ((sa[r - 2] % op.aBytes || sa[r - 1] % op.aBytes) && op.a.view) {
    copyView(*op.a.view, f);
    return execDot(in, f);
  }
  if ((sb[r - 2] % op.bBytes || sb[r - 1] % op.bBytes) && op.b.view) {
    copyView(*op.b.view, f);
    return execDot(in, f);
  }
  if (op.batch == 1) expectReads(op, a, b, dot);
  takeState(op, f, dot);
  if (op.batches && f.launch->hasOptional) findPacked(op, b, f, dot);
  const int64_t tile = op.m * op.n * op.cBytes;
  for (int64_t i = 0; i < op.batch; ++i) {
    dot.a = a + (r == 3 ? i * sa[0] : 0);
    dot.b = b + (r == 3 ? i * sb[0] : 0);
    dot.c = op.hasC ? f.arena + op.c.v + i * tile : nullptr;
    dot.d = f.arena + op.d.v + i * tile;
    op.fn(&dot);
  }
  return in + 1;
}

namespace {

/// Rows of fewer elements cost more to reach than to copy.
constexpr int64_t kShortRow = 16;

struct CopyDim {
  int64_t size, from, to;
};

/// The dimensions of a copy without those of size 1, neighbours merged, and a long one innermost. Returns their number.
size_t orderForCopy(const CopyOp& op, const int64_t* from, const int64_t* to, CopyDim* dims) {
  size_t n = 0;
  for (size_t d = 0; d < op.shape.size(); ++d) {
    const int64_t size = op.shape[d];
    if (size == 1) continue;
    if (n && dims[n - 1].from == from[d] * size && dims[n - 1].to == to[d] * size)
      dims[n - 1] = {dims[n - 1].size * size, from[d], to[d]};
    else
      dims[n++] = {size, from[d], to[d]};
  }
  if (n == 0) return n;
  const CopyDim& row = dims[n - 1];
  const bool oneRun = row.from == op.elementBytes && row.to == op.elementBytes;
  if (row.size >= (oneRun ? kShortRow / 2 : kShortRow)) return n;
  size_t longest = n - 1;
  for (size_t d = n - 1; d-- > 0;)
    if (dims[d].size > dims[longest].size) longest = d;
  std::swap(dims[longest], dims[n - 1]);
  return n;
}

} // namespace

InstructionRef execCopy(InstructionRef in, Frame& f) {
  const CopyOp& op = *static_cast<const CopyOp*>(in->data);
  int64_t from[kMaxRank], to[kMaxRank], index[kMaxRank] = {};
  const std::byte* src = resolve(op.src, f, from);
  std::byte* dst = resolve(op.dst, f, to);
  const int64_t bytes = op.elementBytes;
  CopyDim dims[kMaxRank];
  const size_t rank = orderForCopy(op, from, to, dims);
  if (rank == 0) {
    std::memcpy(dst, src, size_t(bytes));
    return in + 1;
  }
  const TwStridedCopyFn copy = tileOps().stridedCopy(bytes);
  const CopyDim row = dims[rank - 1];
  for (;;) {
    if (row.from == bytes && row.to == bytes)
      std::memcpy(dst, src, size_t(row.size * bytes));
    else
      copy(row.size, dst, row.to, src, row.from);
    size_t d = rank - 1;
    for (;;) {
      if (d == 0) return in + 1;
      --d;
      src += dims[d].from;
      dst += dims[d].to;
      if (++index[d] < dims[d].size) break;
      src -= index[d] * dims[d].from;
      dst -= index[d] * dims[d].to;
      index[d] = 0;
    }
  }
}

InstructionRef execTileGather(InstructionRef in, Frame& f) {
  const TileGatherOp& op = *static_cast<const TileGatherOp*>(in->data);
  const std::byte* index = f.arena + op.index.v;
  const int64_t bad = op.fn(op.outer, op.length, op.count, op.inner, f.arena + op.dst.v, f.arena + op.src.v, index);
  if (bad < 0) [[likely]]
    return in + 1;
  // Narrow indices are unsigned, as the GPU extends them; wider ones are shown as they are meant.
  int64_t at = 0;
  switch (op.indexBytes) {
  case 1: at = reinterpret_cast<const uint8_t*>(index)[bad]; break;
  case 2: at = reinterpret_cast<const uint16_t*>(index)[bad]; break;
  case 4: at = reinterpret_cast<const int32_t*>(index)[bad]; break;
  default: at = reinterpret_cast<const int64_t*>(index)[bad]; break;
  }
  raise(in, f, TrapKind::OutOfBounds, "tt.gather", {});
  f.trap.element = bad;
  f.trap.index = indexText(op.shape, bad);
  f.trap.buffer = "the gathered tile (along its axis " + std::to_string(op.axis) + ")";
  f.trap.offset = at * op.elementBytes;
  f.trap.bufferBytes = op.length * op.elementBytes;
  f.trap.accessBytes = op.elementBytes;
  return nullptr;
}

InstructionRef execHistogram(InstructionRef in, Frame& f) {
  const HistogramOp& op = *static_cast<const HistogramOp*>(in->data);
  tileOps().histogram(op.elements, op.bins, &f.at<int32_t>(op.dst.v), f.arena + op.src.v,
                      op.hasMask ? &f.at<uint8_t>(op.mask.v) : nullptr, op.bytes);
  return in + 1;
}

} // namespace tiletwin::interp
