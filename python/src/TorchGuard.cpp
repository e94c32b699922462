// python/src/TorchGuard.cpp -- see TorchGuard.h.
#include "TorchGuard.h"
#include "Interned.h"

namespace tiletwin::python {

namespace {
PyRef& guardType() {
  static PyRef& type = *new PyRef; // never destroyed: the interpreter may be gone by then
  return type;
}

/// Calls guard.name(arguments...); an error is dropped, since a launch works without the guard.
bool callQuietly(PyObject* guard, PyObject* name, PyObject* argument = nullptr) {
  PyRef result = PyRef::steal(PyObject_CallMethodObjArgs(guard, name, argument, argument, argument, nullptr));
  if (!result) PyErr_Clear();
  return bool(result);
}
} // namespace

TorchGuard::TorchGuard() {
  if (!guardType()) return;
  guard_ = PyRef::steal(PyObject_CallNoArgs(guardType().get()));
  if (!guard_) {
    PyErr_Clear();
    return;
  }
  static PyObject* const enter = interned("__enter__");
  if (!callQuietly(guard_.get(), enter)) guard_ = PyRef();
}

bool TorchGuard::isEmulating() { return bool(guardType()); }

TorchGuard::~TorchGuard() {
  if (!guard_) return;
  static PyObject* const exit = interned("__exit__");
  if (!PyErr_Occurred()) {
    callQuietly(guard_.get(), exit, Py_None);
    return;
  }
  // The launch is failing: its exception has to outlive the call.
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  callQuietly(guard_.get(), exit, Py_None);
  PyErr_Restore(type, value, traceback);
}

PyObject* setTorchGuard(PyObject*, PyObject* type) {
  guardType() = type == Py_None ? PyRef() : PyRef::borrow(type);
  return PyRef::borrow(Py_None).release();
}

} // namespace tiletwin::python
