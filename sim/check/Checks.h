// sim/check/Checks.h -- which checks look on while a grid runs.
// Not here:  the checks themselves (AsyncCheck.h, BarrierCheck.h, RaceCheck.h, UninitializedCheck.h); bounds (machine/Memory.cpp).
#pragma once
#include "sim/machine/Observer.h"
#include <memory>
#include <vector>

namespace tiletwin::sim {

struct Grid;

/// The observers that the launch's CheckOptions ask for and that the kernel can need; none if nobody collects findings.
std::vector<std::unique_ptr<Observer>> makeChecks(Grid& grid);

} // namespace tiletwin::sim
