// sim/counters/AccessForms.h -- which instructions of a text access memory that is counted, and as what ptxas assembles them.
// Not here:  what they cost (MemoryCost.h).
#pragma once
#include "sim/counters/MemoryCost.h"
#include "sim/ptx/Ptx.h"
#include <vector>

namespace tiletwin::sim {

struct CountedAccess {
  AccessForm form = AccessForm::None;
  /// An atomic operation whose result nothing reads: ptxas makes a reduction of it.
  bool reduces = false;
};

/// Of each instruction of a function.
std::vector<CountedAccess> accessesOf(const ptx::Function& function);

} // namespace tiletwin::sim
