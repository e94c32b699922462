// python/src/StorageTypes.h -- storage types by the names that the IR has for them, as Python hands them over.
#pragma once
#include "frontend/PyRef.h"
#include "runtime/DType.h"
#include <cstring>
#include <optional>

namespace tiletwin::python {

/// Empty with an exception set: no storage type has the name.
inline std::optional<DType> storageTypeNamed(PyObject* name) {
  const char* text = PyUnicode_AsUTF8AndSize(name, nullptr);
  for (int i = 0; text && i < kNumDTypes; ++i)
    if (std::strcmp(text, nameOf(DType(i))) == 0) return DType(i);
  if (text) PyErr_Format(PyExc_ValueError, "%s is no element type of the IR", text);
  return {};
}

} // namespace tiletwin::python
