// interp/run/ExecuteGroup.cpp -- runs groups of elementwise operations, and stores of affine tiles.
//
// Here:      the choice of a region and of direct writes, aliasing between views and stores, where streams are.
// Not here:  the walk over the region (GroupWalk.cpp), which operations form a group (plan/Groups.cpp).
// Invariant: no store writes before all of its lanes are checked; a view that a store overlaps is copied first unless both
//            walk the same addresses in the same order.
#include "interp/run/GroupWalk.h"
#include <algorithm>
#include <array>
#include <cstring>

namespace tiletwin::interp {

namespace {

bool storesStream(const Access& access, const Frame& f, const SinkState& s, size_t inner) {
  if (access.root < 0) return false;
  return s.strides[inner] == access.elementBytes &&
         streamsPastCache(f.launch->extents[size_t(access.root)], (s.hi[inner] - s.lo[inner]) * access.elementBytes);
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
        if (const int64_t step = stepFromLastRead(&g, from))
          w.ahead = int64_t(uintptr_t(from) - uintptr_t(base)) + step;
        w.fetched = int32_t(s);
      }
    }
    w.base[s] = base + p.add;
  }
}

/// Where views of rows that masks have cut end, all at the same element; other such views are copied. kWhole: there are none.
int64_t findCut(const GroupOp& g, Frame& f) {
  int64_t cut = ViewDescriptor::kWhole;
  for (size_t s = 0; s < g.streams.size() && g.hasView; ++s) {
    if (!g.places[s].view) continue;
    const ViewDescriptor& v = f.at<ViewDescriptor>(g.places[s].offset);
    if (v.there == ViewDescriptor::kWhole) continue;
    const LoadOp& load = *g.streams[s].operand.view;
    const bool isRow =
        g.shape.size() == 1 && g.shape[0] == load.access.shape[0] && g.flat[s].cell == 0 && g.places[s].add == 0;
    if (isRow && (cut == ViewDescriptor::kWhole || cut == v.there))
      cut = v.there;
    else
      copyView(load, f);
  }
  return cut;
}

bool meet(uintptr_t aLo, uintptr_t aHi, uintptr_t bLo, uintptr_t bHi) { return aLo < bHi && bLo < aHi; }

} // namespace

int64_t stepFromLastRead(const void* data, const std::byte* read) {
  constexpr int64_t kAheadBytes = int64_t(1) << 20; // a larger distance is taken for a jump rather than a step
  struct Read {
    const void* data;
    const std::byte* read;
  };
  static thread_local std::array<Read, 8> table; // a program has several such instructions
  Read& last = table[uintptr_t(data) / sizeof(GroupOp) % table.size()];
  const int64_t step = last.data == data ? int64_t(uintptr_t(read) - uintptr_t(last.read)) : 0;
  last = {data, read};
  return step > -kAheadBytes && step < kAheadBytes ? step : 0;
}

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
  const int64_t cut = findCut(g, f);
  const auto walkRegion = [&] {
    if (cut == ViewDescriptor::kWhole)
      walk(g, f, w, sinks, lo, hi);
    else
      walkCut(g, f, w, sinks, lo[0], hi[0], cut);
  };
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
        walkRegion();
      }
      return failed ? nullptr : in + 1;
    }
  }
  place(g, f, w);
  for (size_t i = 0; i < count; ++i) {
    const GroupNode& node = g.nodes[size_t(g.sinks[i])];
    SinkState& s = sinks[i];
    if (!s.enabled || s.range.empty || node.directFrom < 0 ||
        (s.stream && (!streamsByItself(node.access.elementBytes) || node.directFrom > 63 || node.readBack)))
      continue;
    bool covers = true;
    for (size_t d = 0; d < rank; ++d) covers &= s.lo[d] <= lo[d] && s.hi[d] >= hi[d];
    if (!covers || s.strides[rank - 1] != node.access.elementBytes) continue;
    s.direct = true;
    if (s.stream) w.streaming |= uint64_t(1) << node.directFrom;
    w.base[node.src[0]] = reinterpret_cast<std::byte*>(s.range.base);
    for (size_t d = 0; d < rank; ++d) w.strides[size_t(node.src[0]) * rank + d] = s.strides[d];
  }
  walkRegion();
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
