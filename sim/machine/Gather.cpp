#include "sim/machine/Gather.h"
#include "sim/machine/Fragments.h"
#include "sim/machine/Run.h"

namespace tiletwin::sim {
namespace {

/// Other fragments that stand at the running instruction, in the same call, join the running one. Lanes that it has then.
LaneMask takeIn(Warp& warp, LaneMask wanted) {
  Fragments& all = *warp.fragments;
  Fragment& here = *warp.running;
  for (bool again = true; again;) {
    again = false;
    for (Fragment& other : all.list)
      if (&other != &here && other.next == warp.at && other.frame == here.frame && !other.asleep &&
          other.lanes & wanted) {
        merge(warp, here, other);
        again = true; // the list has changed
        break;
      }
  }
  return guarded(*warp.at, warp, here.lanes);
}

} // namespace

Step gather(Warp& warp, LaneMask members, LaneMask& active) {
  const LaneMask wanted = members & warp.live;
  if (!(wanted & ~active)) return Step::Next;
  const LaneMask together = takeIn(warp, wanted);
  if (!(wanted & ~together)) {
    active = together;
    return Step::Next;
  }
  return Step::Retry;
}

Step gather(Warp& warp, Slot members, LaneMask& active) {
  const uint32_t* masks = warp.lanes<uint32_t>(members);
  const auto named = [&](LaneMask lanes) {
    LaneMask all = 0;
    eachLane(lanes, [&](int lane) { all |= masks[lane]; });
    return all & warp.live;
  };
  if (!(named(active) & ~active)) return Step::Next;
  const LaneMask together = takeIn(warp, named(active));
  LaneMask complete = 0;
  eachLane(together, [&](int lane) { complete |= LaneMask(!(masks[lane] & warp.live & ~together)) << lane; });
  if (!complete) return Step::Retry;
  Fragment& here = *warp.running;
  const LaneMask left = together & ~complete;
  if (left) part(warp, here, left, warp.at, warp.at, nullptr); // they wait here for theirs
  active = complete;
  return Step::Next;
}

Step meet(Warp& warp, LaneMask members, LaneMask active) {
  const LaneMask wanted = members & warp.live & ~active;
  LaneMask here = 0;
  for (const Fragment& other : warp.fragments->list) {
    const bool stands = &other != warp.running && other.retries && other.next->run == warp.at->run;
    if (stands) here |= other.lanes;
  }
  if (wanted & ~here) return Step::Retry;
  for (Fragment& other : warp.fragments->list)
    if (&other != warp.running && other.retries && other.next->run == warp.at->run && other.lanes & wanted)
      ++other.next;
  return Step::Next;
}

} // namespace tiletwin::sim
