// sim/machine/Counters.h -- what is counted while a kernel runs, for LaunchParams::counters.
// Here:      the hooks: a Counters is an observer that sees every instruction and every access.
// Not here:  reports.
// Invariant: the members that Observer declares are called by several threads at once.
#pragma once
#include "sim/machine/Observer.h"

namespace tiletwin::sim {

class Counters : public Observer {
public:
  bool wantsInstructions() const override { return true; }
};

} // namespace tiletwin::sim
