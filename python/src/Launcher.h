// python/src/Launcher.h -- `kernel[grid](...)`: the Python types Launcher (one per JIT function) and BoundLaunch (one
// per grid). Here:      the cache of specializations, the launch, hooks and traps around it. Not here:  binding and
// keys (Binding.h), compilation (runtime/jit.py calls Compile.h). Invariant: a launch that finds its key compiles
// nothing and runs no Python code but the grid's and the hooks'.
#pragma once
#include "Binding.h"
#include "frontend/PyRef.h"
#include "interp/Interp.h"
#include <array>
#include <functional>
#include <span>

namespace tiletwin::python {

/// Adds Launcher to the extension module. -1 with an error set on failure.
int addLauncher(PyObject* module);

/// Runs one program of a launch in CPython, from its start. Null with an error set.
using EagerProgram = std::function<PyRef(const std::array<int32_t, 3>&)>;

/// Runs a program on a classified call: all programs of the grid, or those given (linear ids, ascending). Releases the
/// GIL. False with an exception set: what the trap stands for. `runEagerly`: for programs that reach a breakpoint_if
/// before they write memory.
bool launchCall(const std::string& name, const interp::Program& program, const Call& call,
                const std::array<int32_t, 3>& grid, std::span<const int64_t> onlyPrograms = {},
                const EagerProgram& runEagerly = {});

} // namespace tiletwin::python
