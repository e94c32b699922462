// interp/run/ExecuteStraightGroup.cpp -- the shortest way through a group: one dimension, at most one store, every operand a run
// of elements or one value, everything inside of its boxes. A mask may cut the end of what is stored. It costs a third of what the
// general walk costs, which shows where a program is small.
// Here:      the test that nothing is out of the ordinary, and the loop over strips.
// Not here:  everything else (ExecuteGroup.cpp); the test at plan time (GroupOp::seal in plan/FlushGroup.cpp).
// Invariant: nothing is written before the test has passed as a whole; where it fails, the general walk starts afresh.
#include "interp/run/Execute.h"
#include <algorithm>
#include <bit>
#include <cstring>

namespace tiletwin::interp {

namespace {

/// Where the store writes, and how many elements: a mask may cut the end, if nothing else needs that. False: it is not a plain one.
bool findStore(const GroupOp& g, Frame& f, const GroupNode& sink, uintptr_t& begin, GroupRuns& runs) {
  const Access& access = sink.access;
  const int64_t bytes = access.elementBytes;
  int64_t& n = runs.n;
  if (access.strides[0].get(f) != bytes) return false;
  if (access.masked) {
    const int64_t hi = access.hi[0].get(f);
    if (access.lo[0].get(f) > 0 || (hi < n && (!g.regionIsBox || hi <= 0))) return false;
    n = std::min(n, hi);
  }
  if (const OffsetGuard* guard = access.guard) {
    int64_t first = guard->base.get(f), last;
    if (__builtin_add_overflow(first, guard->strides[0].get(f) * (n - 1), &last) ||
        std::min(first, last) < guard->min || std::max(first, last) > guard->max)
      return false;
  }
  const ArgumentExtent& extent = f.launch->extents[size_t(access.root)];
  begin = uintptr_t(access.base.get(f));
  const uintptr_t end = begin + uintptr_t(n * bytes);
  if (begin < extent.lo || end > extent.hi || begin >= end || extent.readOnly) return false;
  runs.streams = streamsPastCache(extent, n * bytes);
  return !runs.streams || (streamsByItself(bytes) && !sink.readBack);
}

/// How many elements of a long row come before the first whose address begins a cache line: vectors that are stored across lines take
/// twice as long, and what is read mostly lies alike. 0: that does not help.
int64_t elementsToAligned(const GroupOp& g, const GroupRuns& runs, int64_t n) {
  constexpr int64_t kLine = 64, kLongRow = 4096;
  const GroupNode& sink = g.nodes[size_t(g.sinks[0])];
  const int64_t bytes = sink.access.elementBytes, before = -std::bit_cast<intptr_t>(runs.at[sink.src[0]]) & (kLine - 1);
  return n * bytes >= kLongRow && before % bytes == 0 ? before / bytes : 0;
}

} // namespace

bool findRuns(const GroupOp& g, Frame& f, GroupRuns& runs) {
  const GroupNode* sink = g.sinks.empty() ? nullptr : &g.nodes[size_t(g.sinks[0])];
  uintptr_t begin = 0;
  runs.n = g.shape[0];
  runs.streams = false;
  if (sink && !findStore(g, f, *sink, begin, runs)) return false;
  if (g.hasBox)
    for (const GroupNode& node : g.nodes)
      if ((node.kind == GroupNode::Box || node.kind == GroupNode::Inside) &&
          (node.lo[0].get(f) > 0 || node.hi[0].get(f) < runs.n))
        return false;
  const uintptr_t end = sink ? begin + uintptr_t(runs.n * sink->access.elementBytes) : 0;
  for (size_t s = 0; s < g.places.size(); ++s) {
    const GroupOp::Place& place = g.places[s];
    runs.at[s] = f.arena + place.offset + place.add;
    if (!place.view) continue;
    ViewDescriptor& view = f.at<ViewDescriptor>(place.offset);
    const DimStride& stride = g.flat[s];
    if ((stride.cell >= 0 ? view.strides()[stride.cell] : stride.value) != g.streams[s].elementBytes ||
        (view.lo < end && begin < view.hi) ||
        (view.there != ViewDescriptor::kWhole && (view.there < runs.n || place.add != 0)))
      return false;
    runs.at[s] = view.data + place.add;
  }
  if (sink) runs.at[sink->src[0]] = std::bit_cast<std::byte*>(begin);
  return true;
}

void runStrips(const GroupOp& g, Frame& f, GroupRuns& runs, int64_t n) {
  const int32_t stored = g.sinks.empty() ? -1 : g.nodes[size_t(g.sinks[0])].directFrom;
  std::byte** const at = runs.at;
  f.stored |= stored >= 0;
  int64_t count = stored >= 0 ? elementsToAligned(g, runs, n) : 0;
  for (int64_t pos = 0; pos < n; pos += count) {
    count = std::min(pos == 0 && count > 0 ? count : g.stripElements, n - pos);
    for (const GroupStep& step : g.steps) {
      if (step.kind == GroupNode::Sink) continue;
      if (step.kind == GroupNode::Box) {
        std::memset(at[step.dst], 1, size_t(count));
        continue;
      }
      const void* src[3] = {at[step.src[0]], at[step.src[1]], at[step.src[2]]};
      uint32_t flags = step.splat;
      if (step.kind == GroupNode::Inside) flags &= (uint32_t(1) << (g.nodes[step.node].sources - 1)) - 1;
      if (runs.streams && step.node == uint16_t(stored)) flags |= kTwStream;
      step.fn(count, at[step.dst], src, flags);
    }
    if (pos + count < n)
      for (const GroupOp::Run& run : g.runs) at[run.stream] += count * run.bytes;
  }
}

bool runStraightGroup(const GroupOp& g, Frame& f) {
  GroupRuns runs;
  if (!findRuns(g, f, runs)) return false;
  runStrips(g, f, runs, runs.n);
  return true;
}

} // namespace tiletwin::interp
