// python/src/RaiseTrap.h -- a trap of a launch as a Python exception.
#pragma once
#include "runtime/Trap.h"

namespace tiletwin::python {

/// Raises the exception a trap stands for, with its fields as attributes. Needs the GIL.
void raiseTrap(const Trap& trap);

} // namespace tiletwin::python
