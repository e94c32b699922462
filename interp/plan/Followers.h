// interp/plan/Followers.h -- which accesses of a program may come after which, as far as the order of its code tells.
// Here:      Plan::followers, made of the probes of a finished plan.
// Not here:  barriers between them, which may depend on the way that a program takes (check/BarrierCheck.h).
#pragma once
#include "interp/program/Plan.h"

namespace tiletwin::interp {

/// Pairs of arguments (-1: none that is known): a program may read through the second what it has written through the first.
/// Most kernels load first and store last, and have none.
std::vector<std::pair<int32_t, int32_t>> findFollowers(const Plan& plan);

} // namespace tiletwin::interp
