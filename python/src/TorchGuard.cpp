// python/src/TorchGuard.cpp -- see TorchGuard.h.
#include "TorchGuard.h"
#include "Interned.h"

namespace tiletwin::python {

namespace {
PyRef& guardType() {
  static PyRef& type = *new PyRef; // never destroyed: the interpreter may be gone by then
  return type;
}

/// Calls a method of the guard; an error is dropped, since a launch works without the guard.
template <class... T> bool callQuietly(const PyRef& guard, PyObject* method, T... arguments) {
  PyRef result = callMethod(guard.get(), method, arguments...);
  if (!result) PyErr_Clear();
  return bool(result);
}
} // namespace

TorchGuard::TorchGuard() {
  if (!guardType()) return;
  guard_ = call(guardType());
  if (!guard_) PyErr_Clear();
  static PyObject* const enter = interned("__enter__");
  if (guard_ && !callQuietly(guard_, enter)) guard_ = PyRef();
}

bool TorchGuard::isEmulating() { return bool(guardType()); }

TorchGuard::~TorchGuard() {
  if (!guard_) return;
  static PyObject* const exit = interned("__exit__");
  const ErrorKept kept; // if the launch is failing, its exception has to outlive the call
  callQuietly(guard_, exit, Py_None, Py_None, Py_None);
}

void setTorchGuard(PyObject* type) { guardType() = type == Py_None ? PyRef() : PyRef::borrow(type); }

} // namespace tiletwin::python
