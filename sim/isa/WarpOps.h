// sim/isa/WarpOps.h -- instructions in which the lanes of a warp exchange values: shfl, vote, match, redux, activemask, elect.
//
// Here:      where a shuffle reads from; member masks.
// Not here:  bar.warp.sync (Barrier.cpp), matrix instructions.
// Source:    "PTX ISA", NVIDIA, sections "shfl.sync", "vote.sync", "match.sync", "redux.sync", "elect.sync".
#pragma once
#include "sim/isa/Forms.h"
#include "sim/machine/Gather.h"
#include "sim/machine/Warp.h"
#include <span>

namespace tiletwin::sim {

enum class ShuffleMode : uint8_t { Up, Down, Butterfly, Index };
struct ShuffleSource {
  int32_t lane = 0;
  bool inRange = false;
};

/// The lane that `lane` takes its value from: `b` is the distance or lane, `c` holds the clamp (bits 0 to 4) and the segment
/// mask (bits 8 to 12). A lane whose source is out of range takes its own value.
constexpr ShuffleSource shuffleSource(ShuffleMode mode, int lane, uint32_t b, uint32_t c) {
  const int distance = int(b & 31), clamp = int(c & 31), segment = int(c >> 8 & 31);
  const int first = lane & segment, last = first | (clamp & ~segment);
  int from = lane;
  bool inRange = false;
  switch (mode) {
  case ShuffleMode::Up: from = lane - distance, inRange = from >= last; break;
  case ShuffleMode::Down: from = lane + distance, inRange = from <= last; break;
  case ShuffleMode::Butterfly: from = lane ^ distance, inRange = from <= last; break;
  case ShuffleMode::Index: from = first | (distance & ~segment), inRange = from <= last; break;
  }
  return {inRange ? from : lane, inRange};
}

/// gather(), without a call where all lanes are here. A lane that does not name itself is a trap.
inline Step gatherMembers(Warp& warp, LaneMask members, LaneMask& active) {
  if (active & ~members)
    return warp.trap(TrapKind::InvalidValue, "runs in a lane that its member mask does not name",
                     __builtin_ctz(active & ~members));
  return members & warp.live & ~active ? gather(warp, members, active) : Step::Next;
}
Step gatherMembers(Warp& warp, Slot members, LaneMask& active);

/// The destination `d` or `d|p`; either may be `_` in a pair.
bool decodeResultPair(Decoder& decoder, const ptx::Operand& operand, ptx::Type type, Slot& d, Slot& p);

bool decodeShuffle(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out);

} // namespace tiletwin::sim
