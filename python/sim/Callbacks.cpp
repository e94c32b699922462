// python/sim/Callbacks.cpp -- see Callbacks.h.
#include "Callbacks.h"
#include "../src/Gil.h"

namespace tiletwin::python {

/// A worker's thread state goes with its last PyGILState_Release, and an exception that is set there with it.
void Callbacks::keepError() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyRef givenType = PyRef::steal(type), givenValue = PyRef::steal(value), givenTrace = PyRef::steal(trace);
  if (failed_) return;
  type_ = std::move(givenType);
  value_ = std::move(givenValue);
  trace_ = std::move(givenTrace);
  failed_ = true;
}

void Callbacks::print(std::string_view text) {
  if (failed_) return;
  const GilHeld gil;
  // What is no UTF-8 comes as U+FFFD: a kernel may print any bytes.
  PyRef words = PyRef::steal(PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "replace"));
  PyRef done = PyRef::steal(words ? PyObject_CallFunctionObjArgs(print_, words.get(), nullptr) : nullptr);
  if (!done) keepError();
}

bool Callbacks::mayGoOn() {
  if (failed_) return false;
  const GilHeld gil;
  if (PyErr_CheckSignals() == 0) return true;
  keepError();
  return false;
}

bool Callbacks::raise() {
  if (!failed_) return false;
  PyErr_Restore(type_.release(), value_.release(), trace_.release());
  return true;
}

} // namespace tiletwin::python
