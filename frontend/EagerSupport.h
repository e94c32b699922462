// frontend/EagerSupport.h -- what rewritten kernels call in eager mode (python/tiletwin/eager/rewriter.py puts the
// calls there). They are C functions so that a debugger's `step` never enters them. Each does what the walker does for
// the same Python.
#pragma once
#include "frontend/Builder.h"
#include "frontend/PyRef.h"

namespace tiletwin::frontend {

/// In eager mode, an attribute of operations whose region always does the same for the same types: eager mode builds it
/// once. It is never part of the IR.
inline constexpr const char* kRegionIdentity = "tiletwin.region_identity";

/// Adds the functions to the extension module, their names starting with "eager_". False with an error set on failure.
bool addEagerSupport(PyObject* module);
/// The parts of it that are about calls and loops.
bool addEagerCalls(PyObject* module);
bool addEagerLoops(PyObject* module);
/// Drops what loops that an exception ended have left behind on this thread.
void forgetLoops();
/// The builder of the program that this thread runs. Null with an error set outside a launch.
Builder* builderOrError();

} // namespace tiletwin::frontend
