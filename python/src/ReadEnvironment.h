// python/src/ReadEnvironment.h -- what an environment variable holds, or a ValueError about it.
#pragma once
#include "frontend/PyRef.h"
#include "runtime/Environment.h"

namespace tiletwin::python {

/// Calls read(), which reads variables. False with ValueError set: one of them holds what it must not.
template <class Read> bool readEnvironment(const Read& read) {
  try {
    read();
    return true;
  } catch (const environment::Error& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
    return false;
  }
}

} // namespace tiletwin::python
