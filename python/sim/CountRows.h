// python/sim/CountRows.h -- what a launch counted (sim/counters/Counts.h), as lists and tuples.
#pragma once
#include "frontend/PyRef.h"
#include "sim/counters/Counts.h"

namespace tiletwin::python {

/// (functions, timeline, traffic). functions: [(function, is entry, [(index, line, column, text, places, executed, executed on, threads, threads on, parted, bulk bytes, memory, worst, reduces)])]
/// of functions and instructions that ran. places: [(file or None, line, column, inlined function or None)], the innermost
/// first. memory: for global, local and shared (requests, sectors, wavefronts, conflicts, those of loops, bytes, distinct bytes). worst: None or
/// (space, active lanes, bytes of a lane, cost, addresses of the 32 lanes). reduces: an atomic operation whose result nobody wants.
/// timeline: (CTAs, warps that work, cycles, cycles of the longest CTA, busy cycles of units), as TimelineSums has them. traffic:
/// [(buffer, its bytes, sectors read and written by each cluster, different sectors read and written)].
PyRef countRows(const sim::LaunchCounts& counts, const sim::ptx::Module& module);

} // namespace tiletwin::python
