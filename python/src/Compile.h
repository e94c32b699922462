// python/src/Compile.h -- from a JIT function (or IR text) to a module and a program; the Python type CompiledModule.
// Here:      the process's MLIR context, diagnostics as exceptions, the texts of the stages, planning.
// Not here:  caches of kernels (kernels/jit.py, LauncherState.h), launches (Launcher.cpp).
// Invariant: all of this runs under the GIL and under the Python lock compiler.lock; no MLIR diagnostic reaches stderr.
#pragma once
#include "frontend/PyRef.h"
#include "interp/Interp.h"
#include <memory>

namespace tiletwin::python {

/// The program of a CompiledModule, planned on first use. Null with an exception set.
std::shared_ptr<const interp::Program> programOf(PyObject* compiledModule, bool forms = false);

/// Options of a plan from the environment (TILETWIN_NUMERICS). False with an exception set.
bool readPlanOptions(interp::PlanOptions& options);

} // namespace tiletwin::python
