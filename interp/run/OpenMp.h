// interp/run/OpenMp.h -- the threads of an OpenMP runtime that another library has brought into the process.
//
// Here:      whether there is one, and a region on its threads.
// Not here:  when a launch uses it, what its threads do (Workers.cpp).
// Idea:      PyTorch computes on OpenMP's threads. They spin for some milliseconds after each of its operations, and helpers of
//            our own would have to share the cores with them meanwhile (docs/decisions.md). A launch that runs on the same
//            threads finds them awake.
// Invariant: nothing is linked: the functions are those that the process's global scope has by now.
#pragma once
#include <cstdint>

namespace tiletwin::interp::openmp {

/// Threads of a region that this thread would begin, itself included. 1: there is no runtime, this thread is inside a region,
/// or it is not the process's first: a runtime keeps threads for every thread that begins regions. 1 in children of forks, too:
/// a runtime waits there for threads that only the parent has.
int threads();

/// Calls `lead` on this thread and `help` on the other threads of a region, and returns when all have returned. Neither may throw.
/// The result is how many nanoseconds that took beyond `lead`: what waiting for the other threads cost. At the end this thread
/// waits without taking a core from them, as the runtime would: with fewer cores than threads that want to run, that costs
/// milliseconds. If this thread forks the process meanwhile, `lead` returns in the child only to leave the region, in which the child would
/// wait for the parent's threads.
int64_t region(void (*lead)(void* context), void (*help)(void* context), void* context);

} // namespace tiletwin::interp::openmp
