// interp/run/ExecuteStraightGroup.cpp -- the shortest way through a group: one dimension, one store, every operand a run of
// elements or one value. It costs a third of what the general walk costs, which shows where a program is small.
// Here:      the test that nothing is out of the ordinary, and the loop over strips.
// Not here:  everything else (ExecuteGroup.cpp); the test at plan time (GroupOp::seal in plan/FlushGroup.cpp).
// Invariant: nothing is written before the test has passed as a whole; where it fails, the general walk starts afresh.
#include "interp/run/Execute.h"
#include <algorithm>

namespace tiletwin::interp {

bool runStraightGroup(const GroupOp& g, Frame& f) {
  const GroupNode& sink = g.nodes[size_t(g.sinks[0])];
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
  const uintptr_t begin = uintptr_t(access.base.get(f)), end = begin + uintptr_t(n * bytes);
  if (begin < extent.lo || end > extent.hi || begin >= end || extent.readOnly) return false;
  const bool stream = streamsPastCache(extent, n * bytes);
  if (stream && (bytes != 4 || sink.readBack)) return false;

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
  f.stored = true;
  const int32_t out = sink.src[0];
  at[out] = reinterpret_cast<std::byte*>(begin);

  const uint16_t direct = uint16_t(sink.directFrom);
  for (int64_t pos = 0; pos < n; pos += g.stripElements) {
    const int64_t count = std::min(g.stripElements, n - pos);
    for (const GroupStep& step : g.steps) {
      if (step.kind != GroupNode::Strip) continue;
      const void* src[3] = {at[step.src[0]], at[step.src[1]], at[step.src[2]]};
      step.fn(count, at[step.dst], src, step.splat | (stream && step.node == direct ? kTwStream : 0));
    }
    if (pos + count < n)
      for (const GroupOp::Run& run : g.runs) at[run.stream] += count * run.bytes;
  }
  return true;
}

} // namespace tiletwin::interp
