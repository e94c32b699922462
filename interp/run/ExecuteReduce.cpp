// interp/run/ExecuteReduce.cpp -- reductions, scans and sorting networks over tiles.
// Here:      tile functions called on rows; running a region's body over a tile: orders, rearranged copies.
// Not here:  elementwise groups (ExecuteGroup.cpp), the arithmetic (tile/).
// Invariant: a combine sees its operands in the tile's order: bodies need not be commutative. The order depends only on the shape.
#include "interp/run/Execute.h"
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace tiletwin::interp {

/// A source that asRows() has made fit (plan/ReduceOps.cpp). Rows of so many elements may be cut; with 0 none is.
static TwRows rowsOf(const TileOperand& source, int32_t bytes, Frame& f, int64_t mayBeCut = 0) {
  int64_t strides[2];
  if (source.view && mayBeCut) {
    const ViewDescriptor& v = f.at<ViewDescriptor>(source.base.v);
    // One row, for all of them, and no other order of its elements.
    if (v.there != ViewDescriptor::kWhole && source.view->access.shape[0] == mayBeCut && source.offset == 0 &&
        source.strides[0].cell < 0 && source.strides[1].cell == 0)
      return {v.data, source.strides[0].value, v.there, &v.fill};
  }
  const std::byte* first = resolve(source, f, strides);
  if (source.view && strides[1] != bytes) {
    copyView(*source.view, f);
    first = resolve(source, f, strides);
  }
  return {.first = first, .stride = strides[0]};
}

InstructionRef execSum(InstructionRef in, Frame& f) {
  const SumOp& op = *static_cast<const SumOp*>(in->data);
  const TwRows a = rowsOf(op.a, op.aBytes, f, op.axis);
  TwRows b = {};
  if (op.bBytes) b = rowsOf(op.b, op.bBytes, f, op.axis);
  op.fn(op.outer, op.axis, &f.at<float>(op.dst.v), &a, op.bBytes ? &b : nullptr);
  return in + 1;
}

InstructionRef execSumOfSquares(InstructionRef in, Frame& f) {
  const SumOp& op = *static_cast<const SumOp*>(in->data);
  const TwRows row = rowsOf(op.a, op.aBytes, f, op.axis);
  TwDifferences differences{f.at<float>(op.minus.v), op.lo.get(f), op.hi.get(f), 0};
  if (op.a.view && op.axis * op.aBytes >= GroupOp::kAheadRowBytes)
    differences.ahead = stepFromLastRead(&op, static_cast<const std::byte*>(row.first));
  op.squares(op.axis, &f.at<float>(op.dst.v), &row, &differences);
  return in + 1;
}

InstructionRef execReduce(InstructionRef in, Frame& f) {
  const ReduceOp& op = *static_cast<const ReduceOp*>(in->data);
  const TwRows src = rowsOf(op.src, op.bytes[0], f, op.argFn ? 0 : op.axis);
  if (op.argFn)
    op.argFn(op.outer, op.axis, op.inner, f.arena + op.dst.v, &f.at<int32_t>(op.dstIndex.v), src.first,
             op.hasIndex ? &f.at<int32_t>(op.srcIndex.v) : nullptr, op.argTie);
  else
    op.fn(op.outer, op.axis, op.inner, f.arena + op.dst.v, &src);
  return in + 1;
}

InstructionRef execScan(InstructionRef in, Frame& f) {
  const ReduceOp& op = *static_cast<const ReduceOp*>(in->data);
  const TwRows src = rowsOf(op.src, op.bytes[0], f);
  op.scanFn(op.outer, op.axis, op.inner, f.arena + op.dst.v, src.first, src.stride, op.reverse);
  return in + 1;
}

InstructionRef execSort(InstructionRef in, Frame& f) {
  const SortOp& op = *static_cast<const SortOp*>(in->data);
  op.fn(op.elements, f.arena + op.tile.v, op.steps.data(), int64_t(op.steps.size()));
  return in + 1;
}

// ---- regions that have no tile function of their own ----

namespace {

/// Pointers for runBody(): one left and one right argument and one result per operand.
struct BodyPointers {
  const void** arguments;
  void** results;
};
#define TILETWIN_BODY_POINTERS(name, n)                                                                                \
  BodyPointers name {                                                                                                  \
    static_cast<const void**>(__builtin_alloca(2 * (n) * sizeof(void*))),                                              \
        static_cast<void**>(__builtin_alloca((n) * sizeof(void*)))                                                     \
  }

/// Rows [first, first + 2*n) of `rowBytes` each, every second one, to dst.
void everySecond(int64_t n, int64_t rowBytes, int32_t bytes, std::byte* dst, const std::byte* first) {
  if (rowBytes == bytes) {
    tileOps().stridedCopy(bytes)(n, dst, bytes, first, 2 * int64_t(bytes));
    return;
  }
  for (int64_t r = 0; r < n; ++r) std::memcpy(dst + r * rowBytes, first + 2 * r * rowBytes, size_t(rowBytes));
}

/// A tile [outer][chunks][length][inner] and the same elements as [length][chunks][outer][inner]: there and back.
/// Along the axis (chunks * length) elements count from the end if `reverse`.
struct Sequences {
  int64_t outer, chunks, length, inner;
  bool reverse;
  int64_t width() const { return outer * chunks * inner; }
};
template <class T> void moveElements(const Sequences& s, T* rows, T* tile, bool back) {
  constexpr int64_t kBlock = 16;
  const int64_t axis = s.chunks * s.length, step = s.reverse ? -s.inner : s.inner;
  for (int64_t m0 = 0; m0 < s.length; m0 += kBlock) {
    const int64_t end = std::min(m0 + kBlock, s.length);
    for (int64_t o = 0; o < s.outer; ++o)
      for (int64_t c = 0; c < s.chunks; ++c) {
        const int64_t k = c * s.length + m0;
        T* inTile = tile + (o * axis + (s.reverse ? axis - 1 - k : k)) * s.inner;
        T* inRows = rows + ((m0 * s.chunks + c) * s.outer + o) * s.inner;
        for (int64_t m = m0; m < end; ++m, inTile += step, inRows += s.width())
          for (int64_t i = 0; i < s.inner; ++i) back ? inTile[i] = inRows[i] : inRows[i] = inTile[i];
      }
  }
}
void moveElements(const Sequences& s, int32_t bytes, std::byte* rows, std::byte* tile, bool back) {
  switch (bytes) {
  case 1: return moveElements(s, reinterpret_cast<uint8_t*>(rows), reinterpret_cast<uint8_t*>(tile), back);
  case 2: return moveElements(s, reinterpret_cast<uint16_t*>(rows), reinterpret_cast<uint16_t*>(tile), back);
  case 4: return moveElements(s, reinterpret_cast<uint32_t*>(rows), reinterpret_cast<uint32_t*>(tile), back);
  default: return moveElements(s, reinterpret_cast<uint64_t*>(rows), reinterpret_cast<uint64_t*>(tile), back);
  }
}

/// Each of `rows` rows of `width` elements combined with all before it; `step` is 1, or -1 from the last row to the first.
void scanRows(const ReduceOp& op, Frame& f, int64_t rows, int64_t width, int64_t step, std::byte* const* to,
              const std::byte* const* from) {
  const size_t n = op.bytes.size();
  TILETWIN_BODY_POINTERS(p, n);
  const int64_t first = step > 0 ? 0 : rows - 1;
  for (size_t i = 0; i < n; ++i)
    std::memcpy(to[i] + first * width * op.bytes[i], from[i] + first * width * op.bytes[i],
                size_t(width * op.bytes[i]));
  for (int64_t r = 1, at = first; r < rows; ++r, at += step) {
    for (size_t i = 0; i < n; ++i) {
      const int64_t rowBytes = width * op.bytes[i];
      p.arguments[i] = to[i] + at * rowBytes;
      p.arguments[n + i] = from[i] + (at + step) * rowBytes;
      p.results[i] = to[i] + (at + step) * rowBytes;
    }
    runBody(*op.body, f, width, p.arguments, p.results);
  }
}

/// In log2(rows) passes, for few or short rows: after the pass with distance d, row r combines rows r-2d+1 .. r. Returns whether the
/// result is in `b`, not in `a`.
bool scanByDoubling(const ReduceOp& op, Frame& f, int64_t rows, int64_t width, std::byte* const* a,
                    std::byte* const* b) {
  const size_t n = op.bytes.size();
  TILETWIN_BODY_POINTERS(p, n);
  bool swapped = false;
  for (int64_t d = 1; d < rows; d *= 2) {
    std::byte* const* from = swapped ? b : a;
    std::byte* const* to = swapped ? a : b;
    for (size_t i = 0; i < n; ++i) {
      const int64_t rowBytes = width * op.bytes[i];
      std::memcpy(to[i], from[i], size_t(d * rowBytes));
      p.arguments[i] = from[i];
      p.arguments[n + i] = from[i] + d * rowBytes;
      p.results[i] = to[i] + d * rowBytes;
    }
    runBody(*op.body, f, (rows - d) * width, p.arguments, p.results);
    swapped = !swapped;
  }
  return swapped;
}

constexpr int64_t kWide = 64;           ///< elements that are worth a call of the body
constexpr int64_t kManySequences = 512; ///< no need for more of them side by side

} // namespace

InstructionRef execGenericReduce(InstructionRef in, Frame& f) {
  const ReduceOp& op = *static_cast<const ReduceOp*>(in->data);
  const size_t n = op.sources.size();
  TILETWIN_BODY_POINTERS(p, n);
  auto** current = static_cast<const std::byte**>(__builtin_alloca(n * sizeof(void*)));
  for (size_t i = 0; i < n; ++i) current[i] = f.arena + op.sources[i].v;
  // Neighbours are combined until one row is left: a tree that keeps the order. A row without a neighbour goes on as it is.
  for (int64_t length = op.axis, left; length > 1; length = left) {
    left = (length + 1) / 2;
    const int64_t pairs = length / 2;
    for (size_t i = 0; i < n; ++i) {
      const int64_t rowBytes = op.inner * op.bytes[i];
      std::byte *lefts = f.arena + op.scratch[3 * i].v, *rights = f.arena + op.scratch[3 * i + 1].v;
      if (length % 2 == 0) {
        everySecond(op.outer * pairs, rowBytes, op.bytes[i], lefts, current[i]);
        everySecond(op.outer * pairs, rowBytes, op.bytes[i], rights, current[i] + rowBytes);
      } else {
        for (int64_t o = 0; o < op.outer; ++o) {
          everySecond(pairs, rowBytes, op.bytes[i], lefts + o * pairs * rowBytes, current[i] + o * length * rowBytes);
          everySecond(pairs, rowBytes, op.bytes[i], rights + o * pairs * rowBytes,
                      current[i] + (o * length + 1) * rowBytes);
        }
      }
      p.arguments[i] = lefts;
      p.arguments[n + i] = rights;
      p.results[i] = f.arena + op.scratch[3 * i + 2].v;
    }
    runBody(*op.body, f, op.outer * pairs * op.inner, p.arguments, p.results);
    for (size_t i = 0; i < n; ++i) {
      auto* made = static_cast<std::byte*>(p.results[i]);
      if (length %
          2) { // make room behind each block of pairs, the last block first; the odd rows are still in `current`
        const int64_t rowBytes = op.inner * op.bytes[i];
        std::byte* spread = f.arena + op.scratch[3 * i].v;
        for (int64_t o = 0; o < op.outer; ++o) {
          std::memcpy(spread + o * left * rowBytes, made + o * pairs * rowBytes, size_t(pairs * rowBytes));
          std::memcpy(spread + (o * left + pairs) * rowBytes, current[i] + (o * length + length - 1) * rowBytes,
                      size_t(rowBytes));
        }
        std::memcpy(made, spread, size_t(op.outer * left * rowBytes));
      }
      current[i] = made;
    }
  }
  for (size_t i = 0; i < n; ++i)
    std::memcpy(f.arena + op.results[i].v, current[i], size_t(op.outer * op.inner * op.bytes[i]));
  return in + 1;
}

InstructionRef execGenericScan(InstructionRef in, Frame& f) {
  const ReduceOp& op = *static_cast<const ReduceOp*>(in->data);
  const size_t n = op.sources.size();
  auto** a = static_cast<std::byte**>(__builtin_alloca(n * sizeof(void*)));
  auto** b = static_cast<std::byte**>(__builtin_alloca(n * sizeof(void*)));
  auto** c = static_cast<std::byte**>(__builtin_alloca(n * sizeof(void*)));
  if (op.inner >= kWide) { // rows as they lie
    for (int64_t o = 0; o < op.outer; ++o) {
      for (size_t i = 0; i < n; ++i) {
        const int64_t at = o * op.axis * op.inner * op.bytes[i];
        a[i] = f.arena + op.sources[i].v + at;
        b[i] = f.arena + op.results[i].v + at;
      }
      scanRows(op, f, op.axis, op.inner, op.reverse ? -1 : 1, b, a);
    }
    return in + 1;
  }
  for (size_t i = 0; i < n; ++i) {
    a[i] = f.arena + op.scratch[3 * i].v;
    b[i] = f.arena + op.scratch[3 * i + 1].v;
    c[i] = f.arena + op.scratch[3 * i + 2].v;
  }
  // Elements of one place in their sequence side by side. A long axis of few sequences is cut into chunks, scanned side by side;
  // then what came before a chunk is joined to it.
  Sequences s{op.outer, 1, op.axis, op.inner, op.reverse};
  if (s.width() < kManySequences && op.axis >= 64 && std::has_single_bit(uint64_t(op.axis)))
    while (s.width() < kManySequences && s.length > 2 * s.chunks) {
      s.chunks *= 2;
      s.length /= 2;
    }
  auto move = [&](std::byte* const* rows, const std::vector<Off>& tiles, bool back) {
    for (size_t i = 0; i < n; ++i) moveElements(s, op.bytes[i], rows[i], f.arena + tiles[i].v, back);
  };
  move(a, op.sources, false);
  const int64_t width = s.width();
  if (width < kWide && s.chunks == 1) { // short and few
    move(scanByDoubling(op, f, op.axis, width, a, b) ? b : a, op.results, true);
    return in + 1;
  }
  scanRows(op, f, s.length, width, 1, b, a);
  if (s.chunks > 1) {
    // Totals of the chunks, [chunks][outer][inner]: scanned along the chunks, then joined to the chunks behind.
    TILETWIN_BODY_POINTERS(p, n);
    auto** x = static_cast<std::byte**>(__builtin_alloca(2 * n * sizeof(void*)));
    std::byte** y = x + n;
    for (size_t i = 0; i < n; ++i) {
      x[i] = c[i];
      y[i] = c[i] + width * op.bytes[i];
      std::memcpy(x[i], b[i] + (s.length - 1) * width * op.bytes[i], size_t(width * op.bytes[i]));
    }
    const int64_t chunkWidth = s.outer * s.inner;
    std::byte* const* totals = scanByDoubling(op, f, s.chunks, chunkWidth, x, y) ? y : x;
    for (int64_t m = 0; m < s.length; ++m) {
      for (size_t i = 0; i < n; ++i) {
        const int64_t at = m * width * op.bytes[i], one = chunkWidth * op.bytes[i];
        std::memcpy(a[i] + at, b[i] + at, size_t(one));
        p.arguments[i] = totals[i];
        p.arguments[n + i] = b[i] + at + one;
        p.results[i] = a[i] + at + one;
      }
      runBody(*op.body, f, width - chunkWidth, p.arguments, p.results);
    }
    std::swap(a, b);
  }
  move(b, op.results, true);
  return in + 1;
}

} // namespace tiletwin::interp
