// interp/run/GroupWalk.h -- what a group's run consists of: where its streams are, what its stores write, a walk over a region.
// Not here:  what a group is (program/Instructions.h), checks of accesses and the choice of a region (ExecuteGroup.cpp).
#pragma once
#include "interp/run/Execute.h"

namespace tiletwin::interp {

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

/// Runs every node once over n elements at position `pos` of the current row.
void runStrip(const GroupOp& g, Frame& f, Walk& w, const SinkState* sinks, const int64_t* index, size_t inner,
              bool merged, int64_t pos, int64_t n);
/// Walks the region [lo, hi) of the group's dimensions.
void walk(const GroupOp& g, Frame& f, Walk& w, const SinkState* sinks, const int64_t* lo, const int64_t* hi);
/// The same for a group of one dimension, in which views show one value from `cut` on. What depends on such values alone is computed
/// once for all elements behind the cut.
void walkCut(const GroupOp& g, Frame& f, Walk& w, const SinkState* sinks, int64_t lo, int64_t hi, int64_t cut);

} // namespace tiletwin::interp
