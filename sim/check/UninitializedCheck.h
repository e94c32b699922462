// sim/check/UninitializedCheck.h -- reads of what nobody has written: shared memory, local memory, memory that malloc gave, registers.
//
// Here:      the check as an observer of a launch.
// Not here:  values: what is computed from such a read is not followed, the read itself is reported.
// What counts: bytes, from the beginning of the CTA, of the call or of the allocation on. Copies on their way write when they land.
//            Global memory of the host and of the module is always written; so are arguments and results of calls.
//            A register counts for each lane; only those that may be unwritten on some way through the function cost anything. One
//            that nothing in the function writes is what compilers name an undefined value: reading it is reported where memory,
//            a branch or a barrier gets it, not where another register is computed from it.
#pragma once
#include "sim/machine/Observer.h"
#include <memory>

namespace tiletwin::sim {

struct Grid;

/// Reports to the launch's findings while it runs.
std::unique_ptr<Observer> makeUninitializedCheck(Grid& grid);

} // namespace tiletwin::sim
