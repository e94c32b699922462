// python/src/Parts.h -- what the files of this folder add to the extension module tiletwin._C; Module.cpp calls them.
// Each gives false with an exception set on failure.
#pragma once
#include "frontend/PyRef.h"

namespace tiletwin::python {

bool addCheckReport(PyObject* module);   ///< parse_checks
bool addCompile(PyObject* module);       ///< compile, parse_ttir, CompiledModule
bool addDiffCalls(PyObject* module);     ///< what tiletwin.diff calls of diff/
bool addEagerLooks(PyObject* module);    ///< the builder of REPLs, looks at evaluated values, programs by hand
bool addEagerObserver(PyObject* module); ///< raw_value, pointer_origin
bool addEagerRun(PyObject* module);      ///< eager_work, for threads of programs that wait; untraced_method
bool addEagerSession(PyObject* module);  ///< EagerSession
bool addKnobs(PyObject* module);         ///< set_knobs
bool addLauncher(PyObject* module);      ///< Launcher, launch_module
bool addProbeCalls(PyObject* module);    ///< print_if, breakpoint_if, program_of_thread
bool addRawLaunch(PyObject* module);     ///< RawLaunch
bool addRegistry(PyObject* module);      ///< memory that kernels may reach through addresses they load or compute

} // namespace tiletwin::python
