// frontend/PackageObject.h -- what C++ fetches of the Python package: tiletwin/_native_api.py lists all of it.
// Not here: objects of other packages and of Python itself.
// Invariant: no code of _native_api.py runs for a fetch, so that a debugger's `step` does not enter it.
#pragma once
#include "frontend/PyRef.h"

namespace tiletwin {

/// The object that _native_api.OBJECTS has under `name`; its module is imported if need be. Null with an error set on
/// failure.
inline PyRef packageObject(const char* name) {
  PyRef api = PyRef::steal(PyImport_ImportModule("tiletwin._native_api"));
  PyRef objects = api ? PyRef::steal(PyObject_GetAttrString(api.get(), "OBJECTS")) : PyRef();
  PyRef row = objects ? PyRef::steal(PyMapping_GetItemString(objects.get(), name)) : PyRef();
  const char *module, *attribute;
  if (!row || !PyArg_ParseTuple(row.get(), "ss", &module, &attribute)) return {};
  PyRef imported = PyRef::steal(PyImport_ImportModule(module));
  return imported ? PyRef::steal(PyObject_GetAttrString(imported.get(), attribute)) : PyRef();
}

} // namespace tiletwin
