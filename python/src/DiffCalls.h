// python/src/DiffCalls.h -- what tiletwin.diff calls of diff/: functions of _C.
#pragma once
#include "frontend/PyRef.h"

namespace tiletwin::python {

int addDiffCalls(PyObject* module);

} // namespace tiletwin::python
