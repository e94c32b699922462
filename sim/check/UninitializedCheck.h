// sim/check/UninitializedCheck.h -- reads of what nobody has written: shared memory, local memory, memory that malloc gave, registers.
//
// Here:      the check as an observer of a launch.
// Not here:  which registers may be unwritten, and what instructions do with them (machine/DecodeDoubtful.cpp).
// What counts: bytes, from the beginning of the CTA, of the call or of the allocation on: the read is reported, whatever becomes
//            of it. Copies on their way write when they land. Global memory of the host and of the module is always written; so are
//            arguments and results of calls.
// Registers: each lane's value is followed through what is computed from it, until memory, a jump, a barrier or a call gets it:
//            that is reported, with the register that it comes from. What lanes exchange (shfl, vote, mma, ...) counts as written,
//            so that a lane may give away what it has not got if nobody uses that. Only registers that may be unwritten on some
//            way through the function, and what is computed from them, cost anything. One that nothing in the function writes is
//            what compilers name an undefined value: it is reported where it is used itself, what is computed from it is not.
#pragma once
#include "sim/machine/Observer.h"
#include <memory>

namespace tiletwin::sim {

struct Grid;

/// Reports to the launch's findings while it runs.
std::unique_ptr<Observer> makeUninitializedCheck(Grid& grid);

} // namespace tiletwin::sim
