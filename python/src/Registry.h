// python/src/Registry.h -- tiletwin.register: memory that kernels may reach through addresses they load or compute.
#pragma once
#include "frontend/PyRef.h"

namespace tiletwin::python {

/// Adds register_memory, unregister_memory and instruction_set to the extension module. -1 with an error set on
/// failure.
int addRegistry(PyObject* module);

} // namespace tiletwin::python
