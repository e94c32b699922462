// interp/plan/Adjacent.h -- plans whose neighbouring programs may run as one.
#pragma once
#include "interp/program/Plan.h"

namespace tiletwin::interp {

/// Of a plan that is whole, its groups sealed.
AdjacentPrograms findAdjacent(const Plan& plan);

} // namespace tiletwin::interp
