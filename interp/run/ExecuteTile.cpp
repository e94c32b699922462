// interp/run/ExecuteTile.cpp -- instructions on whole tiles: reductions, scans, products, copies, tt.gather, histograms.
// Here:      strides, batches, and running a region's body over a tile.
// Not here:  elementwise groups (ExecuteGroup.cpp), memory (ExecuteMemory.cpp).
// Invariant: a combine sees its operands in the tile's order: bodies need not be commutative.
#include "interp/run/Instructions.h"
#include <algorithm>
#include <cstring>
#include <utility>

namespace tiletwin::interp {

InstructionRef execReduce(InstructionRef in, Frame& f) {
  const ReduceOp& op = *static_cast<const ReduceOp*>(in->data);
  int64_t strides[2];
  std::byte* src = resolve(op.src, f, strides);
  if (op.src.view && strides[1] != op.bytes[0]) {
    copyView(*op.src.view, f);
    src = resolve(op.src, f, strides);
  }
  if (op.argFn)
    op.argFn(op.outer, op.axis, op.inner, f.arena + op.dst.v, &f.at<int32_t>(op.dstIndex.v), src,
             op.hasIndex ? &f.at<int32_t>(op.srcIndex.v) : nullptr);
  else
    op.fn(op.outer, op.axis, op.inner, f.arena + op.dst.v, src, strides[0]);
  return in + 1;
}

/// Rows [first, first + 2*n) of `inner` elements each, every second one, to dst.
static void everySecond(int64_t n, int64_t rowBytes, int32_t bytes, std::byte* dst, const std::byte* first) {
  if (rowBytes == bytes) {
    tileOps().stridedCopy(bytes)(n, dst, bytes, first, 2 * int64_t(bytes));
    return;
  }
  for (int64_t r = 0; r < n; ++r)
    std::memcpy(dst + r * rowBytes, first + 2 * r * rowBytes, size_t(rowBytes));
}

InstructionRef execGenericReduce(InstructionRef in, Frame& f) {
  const ReduceOp& op = *static_cast<const ReduceOp*>(in->data);
  const size_t n = op.sources.size();
  auto** arguments = static_cast<const void**>(__builtin_alloca(2 * n * sizeof(void*)));
  auto** results = static_cast<void**>(__builtin_alloca(n * sizeof(void*)));
  auto** current = static_cast<const std::byte**>(__builtin_alloca(n * sizeof(void*)));
  for (size_t i = 0; i < n; ++i)
    current[i] = f.arena + op.sources[i].v;
  // Neighbours are combined until one row is left: a tree that keeps the order.
  for (int64_t length = op.axis; length > 1; length /= 2) {
    int64_t rows = op.outer * (length / 2);
    for (size_t i = 0; i < n; ++i) {
      int64_t rowBytes = op.inner * op.bytes[i];
      std::byte *left = f.arena + op.scratch[3 * i].v, *right = f.arena + op.scratch[3 * i + 1].v;
      everySecond(rows, rowBytes, op.bytes[i], left, current[i]);
      everySecond(rows, rowBytes, op.bytes[i], right, current[i] + rowBytes);
      arguments[i] = left;
      arguments[n + i] = right;
      results[i] = f.arena + op.scratch[3 * i + 2].v;
    }
    runBody(*op.body, f, rows * op.inner, arguments, results);
    for (size_t i = 0; i < n; ++i)
      current[i] = static_cast<const std::byte*>(results[i]);
  }
  for (size_t i = 0; i < n; ++i)
    std::memcpy(f.arena + op.results[i].v, current[i], size_t(op.outer * op.inner * op.bytes[i]));
  return in + 1;
}

/// dst's rows are src's rows backwards, block by block.
static void reverseRows(int64_t outer, int64_t axis, int64_t rowBytes, int32_t bytes, std::byte* dst, const std::byte* src) {
  for (int64_t o = 0; o < outer; ++o) {
    const std::byte* from = src + o * axis * rowBytes;
    std::byte* to = dst + o * axis * rowBytes;
    if (rowBytes == bytes)
      tileOps().stridedCopy(bytes)(axis, to, bytes, from + (axis - 1) * bytes, -int64_t(bytes));
    else
      for (int64_t r = 0; r < axis; ++r)
        std::memcpy(to + r * rowBytes, from + (axis - 1 - r) * rowBytes, size_t(rowBytes));
  }
}

InstructionRef execGenericScan(InstructionRef in, Frame& f) {
  const ReduceOp& op = *static_cast<const ReduceOp*>(in->data);
  const size_t n = op.sources.size();
  auto** arguments = static_cast<const void**>(__builtin_alloca(2 * n * sizeof(void*)));
  auto** results = static_cast<void**>(__builtin_alloca(n * sizeof(void*)));
  auto** from = static_cast<std::byte**>(__builtin_alloca(n * sizeof(void*)));
  auto** to = static_cast<std::byte**>(__builtin_alloca(n * sizeof(void*)));
  for (size_t i = 0; i < n; ++i) {
    from[i] = f.arena + op.scratch[3 * i].v;
    to[i] = f.arena + op.scratch[3 * i + 1].v;
    int64_t rowBytes = op.inner * op.bytes[i];
    if (op.reverse)
      reverseRows(op.outer, op.axis, rowBytes, op.bytes[i], from[i], f.arena + op.sources[i].v);
    else
      std::memcpy(from[i], f.arena + op.sources[i].v, size_t(op.outer * op.axis * rowBytes));
  }
  // After the pass with distance d, row r combines rows r-2d+1 .. r.
  for (int64_t d = 1; d < op.axis; d *= 2) {
    for (int64_t o = 0; o < op.outer; ++o) {
      for (size_t i = 0; i < n; ++i) {
        int64_t rowBytes = op.inner * op.bytes[i], at = o * op.axis * rowBytes;
        std::memcpy(to[i] + at, from[i] + at, size_t(d * rowBytes));
        arguments[i] = from[i] + at;
        arguments[n + i] = from[i] + at + d * rowBytes;
        results[i] = to[i] + at + d * rowBytes;
      }
      runBody(*op.body, f, (op.axis - d) * op.inner, arguments, results);
    }
    std::swap(from, to);
  }
  for (size_t i = 0; i < n; ++i) {
    int64_t rowBytes = op.inner * op.bytes[i];
    if (op.reverse)
      reverseRows(op.outer, op.axis, rowBytes, op.bytes[i], f.arena + op.results[i].v, from[i]);
    else
      std::memcpy(f.arena + op.results[i].v, from[i], size_t(op.outer * op.axis * rowBytes));
  }
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

InstructionRef execCopy(InstructionRef in, Frame& f) {
  const CopyOp& op = *static_cast<const CopyOp*>(in->data);
  const size_t rank = op.shape.size();
  int64_t from[kMaxRank], to[kMaxRank], index[kMaxRank] = {};
  const std::byte* src = resolve(op.src, f, from);
  std::byte* dst = resolve(op.dst, f, to);
  const int64_t bytes = op.elementBytes;
  if (rank == 0) {
    std::memcpy(dst, src, size_t(bytes));
    return in + 1;
  }
  const TwStridedCopyFn copy = tileOps().stridedCopy(bytes);
  const size_t last = rank - 1;
  for (;;) {
    if (from[last] == bytes && to[last] == bytes)
      std::memcpy(dst, src, size_t(op.shape[last] * bytes));
    else
      copy(op.shape[last], dst, to[last], src, from[last]);
    size_t d = last;
    for (;;) {
      if (d == 0)
        return in + 1;
      --d;
      src += from[d];
      dst += to[d];
      if (++index[d] < op.shape[d])
        break;
      src -= index[d] * from[d];
      dst -= index[d] * to[d];
      index[d] = 0;
    }
  }
}

InstructionRef execTileGather(InstructionRef in, Frame& f) {
  const TileGatherOp& op = *static_cast<const TileGatherOp*>(in->data);
  const size_t rank = op.shape.size();
  int64_t stride[kMaxRank], index[kMaxRank] = {}, elements = 1, s = 1;
  for (size_t d = rank; d-- > 0;) {
    stride[d] = s;
    s *= op.srcShape[d];
    elements *= op.shape[d];
  }
  const std::byte *src = f.arena + op.src.v, *at = f.arena + op.index.v;
  std::byte* dst = f.arena + op.dst.v;
  const int64_t length = op.srcShape[size_t(op.axis)];
  for (int64_t e = 0; e < elements; ++e) {
    int64_t i = 0;
    switch (op.indexBytes) {
    case 1: i = *reinterpret_cast<const int8_t*>(at + e); break;
    case 2: i = reinterpret_cast<const int16_t*>(at)[e]; break;
    case 4: i = reinterpret_cast<const int32_t*>(at)[e]; break;
    default: i = reinterpret_cast<const int64_t*>(at)[e]; break;
    }
    if (i < 0 || i >= length) [[unlikely]] {
      raise(in, f, TrapKind::OutOfBounds, "tt.gather", {});
      f.trap.element = e;
      f.trap.index = indexText(op.shape, e);
      f.trap.buffer = "the gathered tile (along its axis " + std::to_string(op.axis) + ")";
      f.trap.offset = i * op.elementBytes;
      f.trap.bufferBytes = length * op.elementBytes;
      f.trap.accessBytes = op.elementBytes;
      return nullptr;
    }
    int64_t from = i * stride[op.axis];
    for (size_t d = 0; d < rank; ++d)
      if (int(d) != op.axis)
        from += index[d] * stride[d];
    std::memcpy(dst + e * op.elementBytes, src + from * op.elementBytes, size_t(op.elementBytes));
    for (size_t d = rank; d-- > 0;) {
      if (++index[d] < op.shape[d])
        break;
      index[d] = 0;
    }
  }
  return in + 1;
}

InstructionRef execHistogram(InstructionRef in, Frame& f) {
  const HistogramOp& op = *static_cast<const HistogramOp*>(in->data);
  const uint8_t* mask = op.hasMask ? &f.at<uint8_t>(op.mask.v) : nullptr;
  int32_t* bins = &f.at<int32_t>(op.dst.v);
  std::fill(bins, bins + op.bins, 0);
  for (int64_t i = 0; i < op.elements; ++i) {
    int64_t v = op.bytes == 4 ? (&f.at<int32_t>(op.src.v))[i] : (&f.at<int64_t>(op.src.v))[i];
    if ((!mask || mask[i]) && v >= 0 && v < op.bins)
      ++bins[v];
  }
  return in + 1;
}

} // namespace tiletwin::interp
