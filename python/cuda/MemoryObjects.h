// python/cuda/MemoryObjects.h -- the Python type tiletwin._cuda.Memory, and functions on addresses and streams.
#pragma once
#include "frontend/PyRef.h"

namespace tiletwin::python {

/// Adds the type, allocate, copy_in, copy_out and pointer to the module. False with an error set on failure.
bool addMemory(PyObject* module);

} // namespace tiletwin::python
