// interp/run/ExecuteGroup.cpp -- runs groups of elementwise operations strip by strip, and stores of affine tiles.
//
// Idea: all streams of a group are walked over one iteration region (the whole tile, or the common box of its stores).
// Inner dimensions that every stream lays out as one run are merged at run time; the rest is an odometer over rows. A row
// is cut into strips that fit the first-level cache; for each strip every node runs once.
// Here:      the choice of direct writes, aliasing between views and stores, the loop.
// Not here:  element arithmetic (tile/), which operations form a group (plan/Groups.cpp).
// Invariant: no store writes before all of its lanes are checked; a view that a store overlaps is copied first unless both
//            walk the same addresses in the same order.
#include "interp/run/Execute.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::interp {

namespace {

/// Where each stream is while a region runs. Arrays live on the caller's stack or belong to the group.
struct Walk {
  std::byte** base;     ///< per stream: first element of the region, then of the current row
  int64_t* strides;     ///< per stream and dimension, bytes
  int64_t* step;        ///< per stream: bytes from one element of a row to the next
  const std::byte** at; ///< per stream: current strip
  const uint8_t* splat; ///< per stream: one element stands for the whole row
  const GroupStep* steps;
  uint8_t* ownSplat; ///< room for splat and steps where a run differs from what is usual
  GroupStep* ownSteps;
  int64_t* iota;       ///< per node: value at the current row's start
  int64_t* iotaStride; ///< per node and dimension
  int64_t ahead;       ///< of the stream `fetched`: bytes to where the next program is expected to read; 0: unknown
  int32_t fetched;
  uint64_t streaming; ///< bit per node: its result goes past the cache
};

struct SinkState {
  AccessRange range;
  bool wanted = true;  ///< checked, and no store before it failed
  bool enabled = true; ///< written by the walk at hand
  bool direct = false;
  bool stream = false; ///< past the cache: the buffer is too large to be read again from it
  int64_t lo[kMaxRank], hi[kMaxRank], strides[kMaxRank]; ///< in the group's dimensions
};

bool storesStream(const Access& access, const Frame& f, const SinkState& s, size_t inner) {
  if (access.root < 0) return false;
  return s.strides[inner] == access.elementBytes &&
         streamsPastCache(f.launch->extents[size_t(access.root)], (s.hi[inner] - s.lo[inner]) * access.elementBytes);
}

/// So much is fetched at a time, if it goes with the first operation of a strip: more would wait for room in the queue.
constexpr int64_t kAheadStripBytes = 2048;
/// A larger distance between two reads is taken for a jump rather than a step.
constexpr int64_t kAheadBytes = int64_t(1) << 20;

/// Programs of one worker mostly read at a fixed distance from each other: the distance from the last one's view.
int64_t stepOfView(const GroupOp& g, const std::byte* data) {
  static thread_local struct {
    const GroupOp* group;
    const std::byte* data;
  } last = {};
  const int64_t step = last.group == &g ? int64_t(uintptr_t(data) - uintptr_t(last.data)) : 0;
  last = {&g, data};
  return step > -kAheadBytes && step < kAheadBytes ? step : 0;
}

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
  std::byte* to = reinterpret_cast<std::byte*>(s.range.base);
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

/// Runs every node once over n elements at position `pos` of the current row.
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

/// Walks the region [lo, hi) of the group's dimensions.
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

/// Addresses and strides of all streams at the tile's first element.
void place(const GroupOp& g, Frame& f, Walk& w) {
  const size_t rank = g.shape.size();
  const DimStride* flat = g.flat.data();
  int64_t* strides = w.strides;
  w.ahead = 0;
  for (size_t s = 0; s < g.places.size(); ++s, flat += rank, strides += rank) {
    const GroupOp::Place& p = g.places[s];
    std::byte* base = f.arena + p.offset;
    for (size_t d = 0; d < rank; ++d) strides[d] = flat[d].value;
    if (p.view) {
      ViewDescriptor& v = *reinterpret_cast<ViewDescriptor*>(base);
      for (size_t d = 0; d < rank; ++d)
        if (flat[d].cell >= 0) strides[d] = v.strides()[flat[d].cell];
      base = v.data;
      const int32_t bytes = g.streams[s].elementBytes;
      const std::byte* from = v.lo != v.hi ? v.data : v.source;
      if (rank == 1 && (g.sinks.empty() || g.steps.size() - g.sinks.size() > 1) && !w.ahead && from &&
          strides[0] == bytes && g.shape[0] * bytes >= GroupOp::kAheadRowBytes) {
        if (const int64_t step = stepOfView(g, from)) w.ahead = int64_t(uintptr_t(from) - uintptr_t(base)) + step;
        w.fetched = int32_t(s);
      }
    }
    w.base[s] = base + p.add;
  }
}

bool meet(uintptr_t aLo, uintptr_t aHi, uintptr_t bLo, uintptr_t bHi) { return aLo < bHi && bLo < aHi; }

} // namespace

#define TILETWIN_WALK(w, g)                                                                                            \
  const size_t w##Streams = (g).streams.size(), w##Nodes = (g).nodes.size(), w##Rank = (g).shape.size();               \
  Walk w;                                                                                                              \
  w.base = static_cast<std::byte**>(__builtin_alloca(w##Streams * sizeof(std::byte*)));                                \
  w.strides = static_cast<int64_t*>(__builtin_alloca(w##Streams * w##Rank * sizeof(int64_t)));                         \
  w.step = static_cast<int64_t*>(__builtin_alloca(w##Streams * sizeof(int64_t)));                                      \
  w.at = static_cast<const std::byte**>(__builtin_alloca(w##Streams * sizeof(std::byte*)));                            \
  w.ownSplat = static_cast<uint8_t*>(__builtin_alloca(w##Streams));                                                    \
  w.ownSteps = static_cast<GroupStep*>(__builtin_alloca(w##Nodes * sizeof(GroupStep)));                                \
  w.streaming = 0;                                                                                                     \
  w.iota = static_cast<int64_t*>(__builtin_alloca(w##Nodes * sizeof(int64_t)));                                        \
  w.iotaStride = static_cast<int64_t*>(__builtin_alloca(w##Nodes * w##Rank * sizeof(int64_t)))

InstructionRef execGroup(InstructionRef in, Frame& f) {
  const GroupOp& g = *static_cast<const GroupOp*>(in->data);
  if (g.straight && runStraightGroup(g, f)) [[likely]]
    return in + 1;
  const size_t rank = g.shape.size(), count = g.sinks.size();
  TILETWIN_WALK(w, g);
  auto* sinks = static_cast<SinkState*>(__builtin_alloca(std::max<size_t>(count, 1) * sizeof(SinkState)));
  int64_t lo[kMaxRank], hi[kMaxRank];
  for (size_t d = 0; d < rank; ++d) {
    lo[d] = 0;
    hi[d] = g.shape[d];
  }
  bool failed = false;
  for (size_t i = 0; i < count; ++i) {
    const GroupNode& node = g.nodes[size_t(g.sinks[i])];
    SinkState& s = sinks[i];
    s.wanted = s.enabled = !failed;
    s.direct = s.stream = false;
    if (failed) // stores before the failing one still happen, later ones do not
      continue;
    if (!checkAccess(node.access, f, in, true, s.range)) [[unlikely]] {
      f.trap.where = f.plan->locations[node.locationIndex];
      failed = true;
      s.wanted = s.enabled = false;
      continue;
    }
    for (size_t d = 0; d < rank; ++d) {
      s.strides[d] = node.strides[d].get(f);
      s.lo[d] = node.lo.empty() ? 0 : std::max<int64_t>(0, node.lo[d].get(f));
      s.hi[d] = node.hi.empty() ? g.shape[d] : std::min<int64_t>(g.shape[d], node.hi[d].get(f));
    }
    s.stream = storesStream(node.access, f, s, rank - 1);
    f.stored |= !s.range.empty;
  }
  if (count) {
    if (g.regionIsBox && sinks[0].enabled) {
      if (sinks[0].range.empty && !failed) return in + 1;
      for (size_t d = 0; d < rank && !sinks[0].range.empty; ++d) {
        lo[d] = sinks[0].lo[d];
        hi[d] = sinks[0].hi[d];
      }
    }
    // Views that a store overlaps: equal walks may stay, all others are copied first.
    bool sinksMeet = false;
    for (size_t i = 0; i < count; ++i)
      for (size_t j = 0; j < i; ++j)
        sinksMeet |= sinks[i].enabled && sinks[j].enabled &&
                     meet(sinks[i].range.begin, sinks[i].range.end, sinks[j].range.begin, sinks[j].range.end);
    for (size_t s = 0; s < g.streams.size() && g.hasView; ++s) {
      if (!g.places[s].view) continue;
      const GroupStream& stream = g.streams[s];
      ViewDescriptor& v = f.at<ViewDescriptor>(stream.operand.base.v);
      if (v.lo == v.hi) continue;
      for (size_t i = 0; i < count; ++i) {
        if (!sinks[i].enabled || !meet(v.lo, v.hi, sinks[i].range.begin, sinks[i].range.end)) continue;
        bool same = !sinksMeet && !stream.readAfterSink &&
                    stream.elementBytes == g.nodes[size_t(g.sinks[i])].access.elementBytes &&
                    v.data + stream.operand.offset == reinterpret_cast<std::byte*>(sinks[i].range.base);
        for (size_t d = 0; same && d < rank; ++d) {
          int64_t stride = stream.strides[d].cell >= 0 ? v.strides()[stream.strides[d].cell] : stream.strides[d].value;
          same = stride == sinks[i].strides[d] && stride != 0;
        }
        if (!same) {
          copyView(*stream.operand.view, f);
          break;
        }
      }
    }
    if (sinksMeet) [[unlikely]] {
      // One store after the other, each over the whole region.
      for (size_t i = 0; i < count; ++i) {
        if (!sinks[i].wanted) continue;
        for (size_t j = 0; j < count; ++j) sinks[j].enabled = j == i;
        place(g, f, w);
        walk(g, f, w, sinks, lo, hi);
      }
      return failed ? nullptr : in + 1;
    }
  }
  place(g, f, w);
  for (size_t i = 0; i < count; ++i) {
    const GroupNode& node = g.nodes[size_t(g.sinks[i])];
    SinkState& s = sinks[i];
    if (!s.enabled || s.range.empty || node.directFrom < 0 ||
        (s.stream && (node.access.elementBytes != 4 || node.directFrom > 63 || node.readBack)))
      continue;
    bool covers = true;
    for (size_t d = 0; d < rank; ++d) covers &= s.lo[d] <= lo[d] && s.hi[d] >= hi[d];
    if (!covers || s.strides[rank - 1] != node.access.elementBytes) continue;
    s.direct = true;
    if (s.stream) w.streaming |= uint64_t(1) << node.directFrom;
    w.base[node.src[0]] = reinterpret_cast<std::byte*>(s.range.base);
    for (size_t d = 0; d < rank; ++d) w.strides[size_t(node.src[0]) * rank + d] = s.strides[d];
  }
  walk(g, f, w, sinks, lo, hi);
  return failed ? nullptr : in + 1;
}

void runBody(const BodyOp& body, Frame& f, int64_t n, const void* const* arguments, void* const* results) {
  const GroupOp& g = body.group;
  TILETWIN_WALK(w, g);
  place(g, f, w);
  for (size_t s = 0; s < g.streams.size(); ++s) {
    const GroupStream& stream = g.streams[s];
    w.step[s] = 0;
    if (stream.kind == GroupStream::BodyArgument) {
      w.base[s] = static_cast<std::byte*>(const_cast<void*>(arguments[stream.argument]));
      w.step[s] = stream.elementBytes;
    }
  }
  // Results are written where they belong; a stream returned twice is copied the second time.
  for (size_t r = 0; r < body.resultStreams.size(); ++r) {
    int32_t s = body.resultStreams[r];
    if (w.step[s] == 0) {
      w.base[s] = static_cast<std::byte*>(results[r]);
      w.step[s] = g.streams[size_t(s)].elementBytes;
    }
  }
  for (size_t s = 0; s < g.streams.size(); ++s) w.at[s] = w.base[s];
  w.splat = g.splat.data();
  w.steps = g.steps.data();
  int64_t index[1] = {0};
  for (int64_t pos = 0; pos < n; pos += g.stripElements)
    runStrip(g, f, w, nullptr, index, 0, false, pos, std::min(g.stripElements, n - pos));
  for (size_t r = 0; r < body.resultStreams.size(); ++r) {
    int32_t s = body.resultStreams[r];
    if (w.base[s] != results[r]) std::memcpy(results[r], w.base[s], size_t(n * body.resultBytes[r]));
  }
}

} // namespace tiletwin::interp
