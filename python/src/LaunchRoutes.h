// python/src/LaunchRoutes.h -- where a bound launch runs: interpreter, simulator, GPU, CPython (eager mode) or Python code.
// Here:      which of them, and handing the launch over; the user's hooks around it.
// Not here:  what they do with it (ProgramLaunch.h, GpuLaunch.h, EagerRun.h, tiletwin/runtime/).
#pragma once
#include "Binding.h"
#include "GpuLaunch.h"
#include "LauncherState.h"
#include "frontend/PyRef.h"
#include "runtime/Environment.h"
#include <array>

namespace tiletwin::python {

/// Whether Python wants this launch to be eager. -1 with an error set.
int wantsEager(Launcher& launcher, const environment::LaunchVariables& variables);

/// Hands the launch to a function of the package: arrays on a device, or eager mode, whose run is then still to be
/// finished. `session`: of eager mode, or None. Null with an error set.
PyRef delegateLaunch(const Launcher& launcher, const char* route, const Call& call, const std::array<int32_t, 3>& grid,
                     PyObject* session);

/// Runs a bound launch with the user's hooks before and after it, compiled or, without an entry, eagerly. Returns the
/// compiled kernel or a stand-in; null with an error set.
PyRef runLaunch(const Launcher& launcher, Entry* entry, const Call& call, const std::array<int32_t, 3>& grid,
                const environment::LaunchVariables& variables, const GpuPlace& gpu);

} // namespace tiletwin::python
