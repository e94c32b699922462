// interp/run/GroupWalk.cpp -- walks a group over a region, strip by strip.
//
// Idea: all streams of a group are walked over one region (the whole tile, or the common box of its stores). Inner dimensions that
// every stream lays out as one run are merged at run time; the rest is an odometer over rows. A row is cut into strips that
// fit the first-level cache; for each strip every node runs once.
// Here:      the loop, and what nodes do besides calling a strip function.
// Not here:  element arithmetic (tile/), which operations form a group (plan/Groups.cpp), where streams are (ExecuteGroup.cpp).
#include "interp/run/GroupWalk.h"
#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

namespace tiletwin::interp {

namespace {

/// So much is fetched at a time, if it goes with the first operation of a strip: more would wait for room in the queue.
constexpr int64_t kAheadStripBytes = 2048;

int log2Bytes(int32_t bytes) { return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3; }

void copyRun(const GroupOp& g, int64_t n, std::byte* dst, int64_t dstStride, const std::byte* src, int64_t srcStride,
             int32_t bytes) {
  if (dstStride == bytes && srcStride == bytes)
    std::memcpy(dst, src, size_t(n * bytes));
  else
    g.copy[log2Bytes(bytes)](n, dst, dstStride, src, srcStride);
}

/// Finds out which streams are one element for a whole row.
void settleSplats(const GroupOp& g, Walk& w, size_t inner) {
  w.splat = g.splat.data();
  w.steps = g.steps.data();
  if (!g.hasView && !g.hasIota) return;
  const size_t streams = g.streams.size(), rank = g.shape.size();
  bool differs = false;
  for (size_t s = 0; s < streams; ++s) {
    w.ownSplat[s] = g.splat[s] || (g.places[s].view && w.step[s] == 0);
    differs |= w.ownSplat[s] != g.splat[s];
  }
  if (g.hasIota)
    for (const GroupStep& step : g.steps)
      if (step.kind == GroupNode::Iota && g.places[size_t(step.dst)].kind == GroupStream::Strip && !w.step[step.dst] &&
          w.iotaStride[step.node * rank + inner] == 0)
        w.ownSplat[step.dst] = differs = true;
  if (!differs) return;
  w.splat = w.ownSplat;
  for (size_t k = 0; k < g.steps.size(); ++k) {
    w.ownSteps[k] = g.steps[k];
    w.ownSteps[k].splat = 0;
    for (int i = 0; i < g.nodes[k].sources; ++i) w.ownSteps[k].splat |= uint32_t(w.splat[g.nodes[k].src[i]]) << i;
  }
  w.steps = w.ownSteps;
}

/// Elements [lo, hi) of n are inside the node's box. Merged rows are inside as a whole.
struct Inside {
  int64_t lo, hi;
  Inside(const GroupNode& node, Frame& f, const int64_t* index, size_t inner, bool merged, int64_t pos, int64_t n)
      : lo(0), hi(n) {
    if (merged) return;
    const int64_t first = index[inner] + pos;
    lo = std::clamp<int64_t>(node.lo[inner].get(f) - first, 0, n);
    hi = std::clamp<int64_t>(node.hi[inner].get(f) - first, lo, n);
    for (size_t d = 0; d < inner; ++d)
      if (index[d] < node.lo[d].get(f) || index[d] >= node.hi[d].get(f)) hi = lo;
  }
};

void runBox(std::byte* to, const Inside& in, int64_t n) {
  auto* dst = reinterpret_cast<uint8_t*>(to);
  std::memset(dst, 0, size_t(n));
  std::memset(dst + in.lo, 1, size_t(in.hi - in.lo));
}

void runInside(const GroupOp& g, const GroupNode& node, const GroupStep& step, const Walk& w, const Inside& in,
               int64_t n) {
  auto* dst = const_cast<std::byte*>(w.at[step.dst]);
  const int64_t bytes = g.streams[size_t(step.dst)].elementBytes;
  const int last = node.sources - 1;
  if (in.lo < in.hi) {
    const void* src[3] = {};
    for (int i = 0; i < last; ++i)
      src[i] = w.at[step.src[i]] + (step.splat >> i & 1 ? 0 : in.lo * g.streams[size_t(step.src[i])].elementBytes);
    node.fn(in.hi - in.lo, dst + in.lo * bytes, src, step.splat & ((uint32_t(1) << last) - 1));
  }
  const uint32_t splat = step.splat >> last & 1;
  const std::byte* other = w.at[step.src[last]];
  const auto outside = [&](int64_t from, int64_t to) {
    const void* src[3] = {other + (splat ? 0 : from * bytes)};
    if (from < to && src[0] != dst + from * bytes) node.copy(to - from, dst + from * bytes, src, splat);
  };
  outside(0, in.lo);
  outside(in.hi, n);
}

void runSink(const GroupOp& g, const GroupNode& node, const SinkState& s, const std::byte* src, bool splat,
             const int64_t* index, size_t inner, bool merged, int64_t pos, int64_t n) {
  std::byte* to = std::bit_cast<std::byte*>(s.range.base);
  for (size_t d = 0; d < inner; ++d) {
    if (index[d] < s.lo[d] || index[d] >= s.hi[d]) return;
    to += index[d] * s.strides[d];
  }
  int64_t first = index[inner] + pos, lo = 0, hi = n;
  if (!merged) { // merged rows lie inside the box as a whole
    lo = std::max<int64_t>(s.lo[inner] - first, 0);
    hi = std::min<int64_t>(s.hi[inner] - first, n);
  }
  if (lo >= hi) return;
  const int32_t bytes = node.access.elementBytes;
  const int64_t from = splat ? 0 : bytes;
  to += (first + lo) * s.strides[inner];
  src += lo * from;
  if (s.stream && !splat)
    tileOps().streamCopy(to, src, (hi - lo) * bytes);
  else
    copyRun(g, hi - lo, to, s.strides[inner], src, from, bytes);
}

} // namespace

void runStrip(const GroupOp& g, Frame& f, Walk& w, const SinkState* sinks, const int64_t* index, size_t inner,
              bool merged, int64_t pos, int64_t n) {
  for (const int32_t s : g.moving) w.at[s] = w.base[s] + pos * w.step[s];
  const std::byte *next = nullptr, *nextEnd = nullptr;
  int64_t share = 0; // fetched before each step: all at once would wait for memory
  if (w.ahead) {
    next = w.at[w.fetched] + w.ahead;
    nextEnd = next + n * w.step[w.fetched];
    share = n * w.step[w.fetched] / int64_t(g.steps.size()) + 64;
  }
  if (g.mayCopy)
    for (const int32_t s : g.moving) {
      const int32_t buffer = g.strided[size_t(s)], bytes = g.streams[size_t(s)].elementBytes;
      if (buffer >= 0 && w.step[s] != 0 && w.step[s] != bytes) {
        std::byte* to = f.arena + g.stridedBuffers[size_t(buffer)].v;
        g.copy[log2Bytes(bytes)](n, to, bytes, w.at[s], w.step[s]);
        w.at[s] = to;
      }
    }
  for (const GroupStep *a = w.steps, *end = a + g.steps.size(); a != end; ++a) {
    for (const std::byte* stop = std::min(next + share, nextEnd); next < stop; next += 64)
      __builtin_prefetch(next, 0, 2);
    if (a->kind == GroupNode::Strip) [[likely]] {
      const void* src[3] = {w.at[a->src[0]], w.at[a->src[1]], w.at[a->src[2]]};
      a->fn(n, const_cast<std::byte*>(w.at[a->dst]), src, a->splat | uint32_t(w.streaming >> (a->node & 63) & 1) << 31);
      continue;
    }
    const GroupNode& node = g.nodes[a->node];
    if (a->kind == GroupNode::Iota) {
      int64_t stride = w.iotaStride[a->node * g.shape.size() + inner];
      node.iota(w.splat[a->dst] ? 1 : n, const_cast<std::byte*>(w.at[a->dst]), w.iota[a->node] + pos * stride, stride);
    } else if (a->kind == GroupNode::Box) {
      runBox(const_cast<std::byte*>(w.at[a->dst]), Inside(node, f, index, inner, merged, pos, n), n);
    } else if (a->kind == GroupNode::Inside) {
      runInside(g, node, *a, w, Inside(node, f, index, inner, merged, pos, n), n);
    } else if (const SinkState& s = sinks[a->dst]; s.enabled && !s.direct && !s.range.empty) {
      runSink(g, node, s, w.at[a->src[0]], w.splat[a->src[0]], index, inner, merged, pos, n);
    }
  }
}

namespace {

/// Whether a row is nothing but strip functions over elements that are neighbours.
bool isPlain(const GroupOp& g, const Walk& w, int64_t row) {
  if (row > g.stripElements || g.hasIota || g.hasBox || !g.sinks.empty() || w.ahead) return false;
  for (size_t s = 0; s < g.streams.size() && g.mayCopy; ++s)
    if (g.strided[s] >= 0 && w.step[s] != 0 && w.step[s] != g.streams[s].elementBytes) return false;
  return true;
}

/// Plain rows, where what runStrip() looks at for each would take as long as the functions: rows of 64 elements are common.
void runRows(const GroupOp& g, Walk& w, size_t dim, int64_t rows, int64_t n) {
  const size_t rank = g.shape.size(), steps = g.steps.size();
  for (; rows > 0; --rows) {
    for (size_t k = 0; k < steps; ++k) {
      const GroupStep& a = w.steps[k];
      const void* src[3] = {w.at[a.src[0]], w.at[a.src[1]], w.at[a.src[2]]};
      a.fn(n, const_cast<std::byte*>(w.at[a.dst]), src, a.splat);
    }
    for (const int32_t s : g.moving) w.at[s] += w.strides[size_t(s) * rank + dim];
  }
}

/// Whether every element is inside of every box that a node asks for.
bool isInsideBoxes(const GroupOp& g, Frame& f) {
  if (!g.hasBox) return true;
  for (const GroupNode& node : g.nodes)
    for (size_t d = 0; d < g.shape.size() && (node.kind == GroupNode::Box || node.kind == GroupNode::Inside); ++d)
      if (node.lo[d].get(f) > 0 || node.hi[d].get(f) < g.shape[d]) return false;
  return true;
}

} // namespace

void walk(const GroupOp& g, Frame& f, Walk& w, const SinkState* sinks, const int64_t* lo, const int64_t* hi) {
  const size_t rank = g.shape.size(), streams = g.streams.size(), nodes = g.nodes.size();
  int64_t size[kMaxRank], index[kMaxRank];
  for (size_t d = 0; d < rank; ++d) {
    size[d] = hi[d] - lo[d];
    index[d] = lo[d];
    if (lo[d])
      for (size_t s = 0; s < streams; ++s) w.base[s] += lo[d] * w.strides[s * rank + d];
  }
  if (g.hasIota)
    for (size_t k = 0; k < nodes; ++k) {
      const GroupNode& node = g.nodes[k];
      if (node.kind != GroupNode::Iota) continue;
      w.iota[k] = node.base.get(f);
      for (size_t d = 0; d < rank; ++d) {
        w.iotaStride[k * rank + d] = node.strides[d].get(f);
        w.iota[k] = int64_t(uint64_t(w.iota[k]) + uint64_t(lo[d]) * uint64_t(w.iotaStride[k * rank + d]));
      }
    }
  // Merge dimensions, innermost first, while every stream runs on over them.
  const size_t inner = rank - 1;
  size_t outer = inner; // dimensions [0, outer) are walked one by one; the rest is one row
  int64_t row = size[inner];
  const bool mayMerge = outer > 0 && isInsideBoxes(g, f);
  while (outer > 0 && mayMerge) {
    size_t d = outer - 1;
    bool runs = true;
    for (size_t s = 0; runs && s < streams; ++s) runs = w.strides[s * rank + d] == w.strides[s * rank + inner] * row;
    size_t sink = 0;
    for (size_t k = 0; runs && k < nodes; ++k) {
      if (g.nodes[k].kind == GroupNode::Iota)
        runs = w.iotaStride[k * rank + d] == w.iotaStride[k * rank + inner] * row;
      else if (g.nodes[k].kind == GroupNode::Sink) {
        const SinkState& s = sinks[sink++];
        if (!s.enabled || s.direct || s.range.empty) continue;
        runs = s.strides[d] == s.strides[inner] * row;
        for (size_t e = d; runs && e < rank; ++e) runs = s.lo[e] <= lo[e] && s.hi[e] >= hi[e];
      }
    }
    if (!runs) break;
    row *= size[d];
    outer = d;
  }
  const bool merged = outer < inner;
  for (size_t s = 0; s < streams; ++s) {
    w.step[s] = w.strides[s * rank + inner];
    w.at[s] = w.base[s];
  }
  settleSplats(g, w, inner);
  if (outer == 1 && isPlain(g, w, row)) return runRows(g, w, 0, size[0], row);
  const int64_t strip = w.ahead ? std::min(g.stripElements, kAheadStripBytes / w.step[w.fetched]) : g.stripElements;
  for (;;) {
    for (int64_t pos = 0; pos < row; pos += strip)
      runStrip(g, f, w, sinks, index, inner, merged, pos, std::min(strip, row - pos));
    size_t d = outer;
    for (;;) {
      if (d == 0) return;
      --d;
      ++index[d];
      bool wrapped = index[d] == hi[d];
      int64_t by = wrapped ? 1 - size[d] : 1;
      for (const int32_t s : g.moving) w.base[s] += by * w.strides[size_t(s) * rank + d];
      if (g.hasIota)
        for (size_t k = 0; k < nodes; ++k)
          if (g.nodes[k].kind == GroupNode::Iota)
            w.iota[k] = int64_t(uint64_t(w.iota[k]) + uint64_t(by) * uint64_t(w.iotaStride[k * rank + d]));
      if (!wrapped) break;
      index[d] = lo[d];
    }
  }
}

namespace {

/// Whether all of [from, to) is inside of the node's box; nothing: only a part is.
std::optional<bool> allInside(const GroupNode& node, Frame& f, int64_t from, int64_t to) {
  const int64_t lo = node.lo[0].get(f), hi = node.hi[0].get(f);
  if (lo <= from && hi >= to) return true;
  if (lo >= to || hi <= from) return false;
  return std::nullopt;
}

/// Computes one element for all of [from, to) where that is possible, and fills tiles with it. False: nothing was done.
bool fillWithOne(const GroupOp& g, Frame& f, Walk& w, const SinkState* sinks, int64_t from, int64_t to) {
  struct Operands {
    int first, end;
    bool inside;
  };
  const auto operandsOf = [&](const GroupStep& step) -> Operands {
    const int n = uint8_t(g.nodes[step.node].sources);
    const bool boxed = step.kind == GroupNode::Box || step.kind == GroupNode::Inside;
    const std::optional<bool> inside = boxed ? allInside(g.nodes[step.node], f, from, to) : true;
    if (!inside) return {0, -1, false};
    if (step.kind != GroupNode::Inside) return {0, n, *inside};
    return *inside ? Operands{0, n - 1, true} : Operands{n - 1, n, false};
  };
  uint8_t* const same = w.ownSplat;
  for (size_t s = 0; s < g.streams.size(); ++s) same[s] = g.splat[s] || (g.places[s].view && w.strides[s] == 0);
  for (const GroupStep& step : g.steps) {
    if (step.kind == GroupNode::Iota) return false;
    if (step.kind == GroupNode::Sink) {
      const SinkState& s = sinks[step.dst];
      if (s.enabled && !s.range.empty && s.lo[0] < to && s.hi[0] > from) return false;
      continue;
    }
    const Operands operands = operandsOf(step);
    if (operands.end < 0) return false;
    for (int i = operands.first; i < operands.end; ++i)
      if (!same[g.nodes[step.node].src[i]]) return false;
    same[step.dst] = true;
  }
  for (size_t s = 0; s < g.streams.size(); ++s) w.at[s] = w.base[s] + from * w.strides[s];
  for (const GroupStep& step : g.steps) {
    if (step.kind == GroupNode::Sink) continue;
    const GroupNode& node = g.nodes[step.node];
    const Operands operands = operandsOf(step);
    auto* dst = const_cast<std::byte*>(w.at[step.dst]);
    const int64_t bytes = g.streams[size_t(step.dst)].elementBytes;
    const void* src[3] = {};
    for (int i = operands.first; i < operands.end; ++i) src[i - operands.first] = w.at[node.src[i]];
    const uint32_t splat = (uint32_t(1) << (operands.end - operands.first)) - 1;
    if (step.kind == GroupNode::Box)
      *dst = std::byte(operands.inside);
    else
      (operands.inside ? node.fn : node.copy)(1, dst, src, splat);
    if (g.places[size_t(step.dst)].kind == GroupStream::Tile)
      g.copy[log2Bytes(int32_t(bytes))](to - from - 1, dst + bytes, bytes, dst, 0);
  }
  return true;
}

} // namespace

void walkCut(const GroupOp& g, Frame& f, Walk& w, const SinkState* sinks, int64_t lo, int64_t hi, int64_t cut) {
  if (lo < cut) {
    const int64_t end = std::min(cut, hi);
    walk(g, f, w, sinks, &lo, &end);
    if (end == hi) return;
    for (size_t s = 0; s < g.streams.size() && lo != 0; ++s) w.base[s] -= lo * w.strides[s];
    lo = end;
  }
  for (size_t s = 0; s < g.streams.size(); ++s) {
    if (!g.places[s].view) continue;
    ViewDescriptor& v = f.at<ViewDescriptor>(g.places[s].offset);
    if (v.there == ViewDescriptor::kWhole) continue;
    w.base[s] = reinterpret_cast<std::byte*>(&v.fill);
    w.strides[s] = 0;
  }
  w.ahead = 0;
  if (!fillWithOne(g, f, w, sinks, lo, hi)) walk(g, f, w, sinks, &lo, &hi);
}

} // namespace tiletwin::interp
