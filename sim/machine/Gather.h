// sim/machine/Gather.h -- lanes that an instruction with a member mask names are brought together.
// Here:      gather() for shfl.sync, vote.sync, match.sync, redux.sync, elect.sync, mma.sync, ldmatrix and their kin.
// Not here:  how lanes part and meet at branches (Fragments.h), barriers of a CTA (isa/Barrier.h).
#pragma once
#include "sim/machine/Warp.h"

namespace tiletwin::sim {

/// Waits until every lane of `members` that has not exited stands at the running instruction. Next: all of them are in
/// `active` now (it has grown by lanes that came here in other fragments): run. Retry: return it; nothing was done.
/// For `.aligned` instructions members is kAllLanes.
///   Step run(const Inst& in, Warp& warp, LaneMask active) {
///     if (const Step s = gather(warp, members, active); s != Step::Next) return s;
Step gather(Warp& warp, LaneMask members, LaneMask& active);

/// The same where each lane names its own members (a 4-byte slot): lanes whose members are not all here are left behind in a
/// fragment of their own, `active` keeps the others. Members may be one register or constant that differs from lane to lane.
Step gather(Warp& warp, Slot members, LaneMask& active);

/// As the first, but the lanes may stand at any instruction with the same Inst::run (bar.warp.sync). They go on from where they
/// stand; `active` stays as it is.
Step meet(Warp& warp, LaneMask members, LaneMask active);

} // namespace tiletwin::sim
