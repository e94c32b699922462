// frontend/PackageObject.h -- what C++ fetches of the Python package: tiletwin/_native_api.py lists all of it.
// Not here: objects of other packages and of Python itself.
// Invariant: no code of _native_api.py runs for a fetch, so that a debugger's `step` does not enter it.
#pragma once
#include "frontend/PyValues.h"

namespace tiletwin {

/// The object that _native_api.OBJECTS has under `name`; its module is imported if need be. Null with an error set on
/// failure.
inline PyRef packageObject(const char* name) {
  PyRef objects = imported("tiletwin._native_api", "OBJECTS");
  PyRef row = PyRef::steal(objects ? PyMapping_GetItemString(objects.get(), name) : nullptr);
  const char *module, *attribute;
  return row && PyArg_ParseTuple(row.get(), "ss", &module, &attribute) ? imported(module, attribute) : PyRef();
}

} // namespace tiletwin
