// interp/run/ExecuteStraightGroup.cpp -- the shortest way through a group: one dimension, at most one store, every operand a run
// of elements or one value, everything inside of its boxes. It costs a third of what the general walk costs, which shows
// where a program is small.
// Here:      the test that nothing is out of the ordinary, and the loop over strips.
// Not here:  everything else (ExecuteGroup.cpp); the test at plan time (GroupOp::seal in plan/FlushGroup.cpp).
// Invariant: nothing is written before the test has passed as a whole; where it fails, the general walk starts afresh.
#include "interp/run/Execute.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::interp {

namespace {

/// Where the store writes. False: it is not a plain one.
bool findStore(const GroupOp& g, Frame& f, const GroupNode& sink, uintptr_t& begin, bool& stream) {
  const Access& access = sink.access;
  const int64_t n = g.shape[0], bytes = access.elementBytes;
  if (access.strides[0].get(f) != bytes || (access.masked && (access.lo[0].get(f) > 0 || access.hi[0].get(f) < n)))
    return false;
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
  stream = streamsPastCache(extent, n * bytes);
  return !stream || (bytes == 4 && !sink.readBack);
}

} // namespace

bool runStraightGroup(const GroupOp& g, Frame& f) {
  const int64_t n = g.shape[0];
  if (g.hasBox)
    for (const GroupNode& node : g.nodes)
      if ((node.kind == GroupNode::Box || node.kind == GroupNode::Inside) &&
          (node.lo[0].get(f) > 0 || node.hi[0].get(f) < n))
        return false;
  const GroupNode* sink = g.sinks.empty() ? nullptr : &g.nodes[size_t(g.sinks[0])];
  uintptr_t begin = 0;
  bool stream = false;
  if (sink && !findStore(g, f, *sink, begin, stream)) return false;
  const uintptr_t end = sink ? begin + uintptr_t(n * sink->access.elementBytes) : 0;

  std::byte* at[GroupOp::kStraightStreams];
  for (size_t s = 0; s < g.places.size(); ++s) {
    const GroupOp::Place& place = g.places[s];
    at[s] = f.arena + place.offset + place.add;
    if (!place.view) continue;
    ViewDescriptor& view = f.at<ViewDescriptor>(place.offset);
    const DimStride& stride = g.flat[s];
    if ((stride.cell >= 0 ? view.strides()[stride.cell] : stride.value) != g.streams[s].elementBytes ||
        (view.lo < end && begin < view.hi))
      return false;
    at[s] = view.data + place.add;
  }
  if (sink) {
    f.stored = true;
    at[sink->src[0]] = reinterpret_cast<std::byte*>(begin);
  }
  for (int64_t pos = 0; pos < n; pos += g.stripElements) {
    const int64_t count = std::min(g.stripElements, n - pos);
    for (const GroupStep& step : g.steps) {
      if (step.kind == GroupNode::Sink) continue;
      if (step.kind == GroupNode::Box) {
        std::memset(at[step.dst], 1, size_t(count));
        continue;
      }
      const void* src[3] = {at[step.src[0]], at[step.src[1]], at[step.src[2]]};
      uint32_t flags = step.splat;
      if (step.kind == GroupNode::Inside) flags &= (uint32_t(1) << (g.nodes[step.node].sources - 1)) - 1;
      if (stream && step.node == uint16_t(sink->directFrom)) flags |= kTwStream;
      step.fn(count, at[step.dst], src, flags);
    }
    if (pos + count < n)
      for (const GroupOp::Run& run : g.runs) at[run.stream] += count * run.bytes;
  }
  return true;
}

} // namespace tiletwin::interp
