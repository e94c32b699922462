// python/src/EagerRun.h -- the loop over programs that run in CPython.
// Here:      calling the rewritten kernel for each program that Python hands out, and who sees it called.
// Not here:  which programs those are, waiting, errors (launch/eager_launch.py, launch/eager_relay.py).
// Invariant: between the user's line that launches and the kernel's there is no Python frame of the package, so that
//            `up`, tracebacks and `step` go from one to the other.
#pragma once
#include "frontend/PyRef.h"

namespace tiletwin::python {

/// Runs what a launch of eager mode handed over: `run` is an EagerRun of launch/eager_launch.py. Returns the compiled
/// kernel that ran the other programs, or None; null with the error of a program, or another one, set.
PyRef finishEagerRun(PyObject* run);

} // namespace tiletwin::python
