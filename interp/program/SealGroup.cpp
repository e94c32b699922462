// interp/program/SealGroup.cpp -- what the strip loop reads of a group, compact: once, when offsets are known.
// Not here:  what becomes a group (plan/FlushGroup.cpp), the strip loop (run/GroupWalk.cpp).
#include "interp/program/Instructions.h"
#include <algorithm>
#include <cassert>

namespace tiletwin::interp {

void GroupOp::seal() {
  const size_t rank = shape.size();
  for (size_t s = 0; s < streams.size(); ++s) {
    const GroupStream& stream = streams[s];
    const bool tile = stream.kind == GroupStream::Operand || stream.kind == GroupStream::Tile;
    places.push_back({tile ? stream.operand.base.v : stream.cell.v, stream.kind, tile && stream.operand.view,
                      tile ? stream.operand.offset : 0});
    for (size_t d = 0; d < rank; ++d)
      flat.push_back(tile && d < stream.strides.size() ? stream.strides[d] : DimStride{});
    const DimStride& last = flat.back();
    splat.push_back(stream.kind == GroupStream::Cell ||
                    (stream.kind == GroupStream::Operand && last.cell < 0 && last.value == 0));
    if (stream.kind != GroupStream::Cell)
      moving.push_back(int32_t(s)); // a strip moves where its store lets it write user memory itself
    hasView |= places.back().view;
    mayCopy |= strided[s] >= 0;
  }
  assert(nodes.size() <= kMostNodes);
  int32_t sink = 0;
  for (size_t k = 0; k < nodes.size(); ++k) {
    const GroupNode& node = nodes[k];
    const int32_t dst = node.kind == GroupNode::Sink ? sink++ : node.dst;
    GroupStep step{node.fn, {0, 0, 0}, dst, 0, uint16_t(k), node.kind};
    for (int i = 0; i < 3; ++i) step.src[i] = node.sources ? node.src[std::min<int>(i, node.sources - 1)] : 0;
    for (int i = 0; i < node.sources; ++i) step.splat |= uint32_t(splat[size_t(node.src[i])]) << i;
    steps.push_back(step);
    hasIota |= node.kind == GroupNode::Iota;
    hasBox |= node.kind == GroupNode::Box || node.kind == GroupNode::Inside;
  }
  for (const int32_t k : sinks)
    for (const GroupNode& node : nodes)
      if (node.kind != GroupNode::Sink)
        nodes[size_t(k)].readBack |= std::count(node.src, node.src + node.sources, nodes[size_t(k)].src[0]) > 0;
  straight = rank == 1 && sinks.size() <= 1 && !hasIota && streams.size() <= kStraightStreams;
  if (straight) {
    const GroupNode* store = sinks.empty() ? nullptr : &nodes[size_t(sinks[0])];
    if (store) straight = store->directFrom >= 0 && store->access.shape.size() == 1 && store->access.root >= 0;
    for (size_t s = 0; s < streams.size(); ++s) {
      const bool view = places[s].view, stored = store && int32_t(s) == store->src[0];
      if (!view && !stored && places[s].kind != GroupStream::Tile && places[s].kind != GroupStream::Operand) continue;
      const int64_t bytes = view || stored ? streams[s].elementBytes : flat[s].value;
      straight &= bytes == 0 || bytes == streams[s].elementBytes;
      if (view && !store) straight &= shape[0] * bytes < kAheadRowBytes; // the general walk fetches ahead
      runs.push_back({int32_t(s), int32_t(bytes)});
    }
  }
}

} // namespace tiletwin::interp
