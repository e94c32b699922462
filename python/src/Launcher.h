// python/src/Launcher.h -- `kernel[grid](...)`: the Python types Launcher (one per JIT function) and BoundLaunch (one
// per grid).
// Here:      a launch from its arguments to its end, in the order of its steps.
// Not here:  the steps: binding and keys (Binding.h), the cache of specializations (LauncherState.h), where the launch
//            runs (LaunchRoutes.h), compilation (kernels/jit.py calls Compile.h).
// Invariant: a launch that finds its key compiles nothing and runs no Python code but the grid's and the hooks'.
#pragma once
#include "frontend/PyRef.h"

namespace tiletwin::python {

/// Adds Launcher to the extension module. -1 with an error set on failure.
int addLauncher(PyObject* module);

} // namespace tiletwin::python
