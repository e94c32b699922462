// interp/run/Core.h -- one thread's move to another core.
// Here:      the move.
// Not here:  how many cores there are (Workers.h); which thread moves, and why (OpenMp.cpp).
// Invariant: afterwards the thread may be wherever it was allowed to be before.
#pragma once
#include <sched.h>

namespace tiletwin::interp {

/// Moves the calling thread to another core if it is on this one and may be elsewhere. The kernel leaves it there afterwards.
inline void leaveCore(int core) {
  if (core < 0 || core >= CPU_SETSIZE || sched_getcpu() != core) return;
  cpu_set_t allowed; // where the machine has more cores than a set of this size, the call fails, and the thread stays
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  cpu_set_t others = allowed;
  CPU_CLR(core, &others);
  if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0)
    sched_setaffinity(0, sizeof allowed, &allowed);
}

} // namespace tiletwin::interp
