// python/src/Knobs.h -- what `tiletwin.knobs` tells launches: the user's hooks around them, and settings that are part
// of launch keys.
// Here:      the lists and the suffix, and the calls of kernels/launch_hooks.py.
// Not here:  the knobs themselves (python/tiletwin/knobs.py), a running launch's signals and output (LaunchHooks.h).
// Invariant: everything here is used under the GIL; a launch that nobody watches runs no Python for it.
#pragma once
#include "frontend/PyRef.h"
#include <string>

namespace tiletwin::python {

/// True if a hook before or after launches is installed.
bool launchesAreWatched();
/// What the settings add to the key of every launch; mostly empty.
const std::string& knobsKeySuffix();

/// Calls the hooks before a launch. Returns what the hooks after it get; null with the hook's error set.
/// kernel: the compiled kernel, or None where CPython runs the body.
PyRef enterLaunch(PyObject* function, PyObject* kernel, PyObject* arguments, PyObject* grid);
/// Calls the hooks after a launch. False with the hook's error set.
bool leaveLaunch(PyObject* metadata);

} // namespace tiletwin::python
