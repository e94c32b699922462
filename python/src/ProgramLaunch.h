// python/src/ProgramLaunch.h -- a compiled program on the interpreter, for a call whose arguments are bound.
// Here:      arguments as the interpreter takes them, running without the GIL, traps and findings as exceptions.
// Not here:  which program that is (LauncherState.h), where else a launch may run (LaunchRoutes.h).
#pragma once
#include "Binding.h"
#include "frontend/PyRef.h"
#include "interp/Interp.h"
#include <array>
#include <functional>
#include <span>

namespace tiletwin::python {

/// Runs one program of a launch in CPython, from its start. Null with an error set.
using EagerProgram = std::function<PyRef(const std::array<int32_t, 3>&)>;

/// Runs a program on a classified call: all programs of the grid, or those given (linear ids, ascending). Releases the
/// GIL. False with an exception set: what the trap stands for. `runEagerly`: for programs that reach a breakpoint_if
/// before they write memory.
bool launchCall(const std::string& name, const interp::Program& program, const Call& call,
                const std::array<int32_t, 3>& grid, std::span<const int64_t> onlyPrograms = {},
                const EagerProgram& runEagerly = {});

} // namespace tiletwin::python
