// python/cuda/MemoryObjects.h -- the Python types tiletwin._cuda.Memory and Event, and functions on addresses and streams.
#pragma once
#include "frontend/PyRef.h"

namespace tiletwin::python {

/// Adds the types to the module. -1 with an error set on failure.
int addMemoryObjects(PyObject* module);

/// allocate(bytes, device) -> Memory
PyObject* allocate(PyObject*, PyObject* args);
/// event(device) -> Event
PyObject* makeEvent(PyObject*, PyObject* args);
/// copy_in(device, address, buffer, stream): host to device, in the stream's order.
PyObject* copyIn(PyObject*, PyObject* args);
/// copy_out(device, writable buffer, address, stream): device to host, in the stream's order.
PyObject* copyOut(PyObject*, PyObject* args);
/// pointer(device, address) -> (kind, device, begin, bytes); kind "host", "device", "managed", "unknown".
PyObject* pointer(PyObject*, PyObject* args);

} // namespace tiletwin::python
