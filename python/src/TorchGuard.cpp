// python/src/TorchGuard.cpp -- see TorchGuard.h.
#include "TorchGuard.h"

namespace tiletwin::python {

namespace {
PyRef& guardType() {
  static PyRef& type = *new PyRef; // never destroyed: the interpreter may be gone by then
  return type;
}

/// Calls guard.name(*arguments); an error is dropped, since a launch works without the guard.
bool callQuietly(PyObject* guard, const char* name, PyObject* arguments) {
  PyRef method = PyRef::steal(PyObject_GetAttrString(guard, name));
  PyRef result = method ? PyRef::steal(PyObject_CallObject(method.get(), arguments)) : PyRef();
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
  if (!callQuietly(guard_.get(), "__enter__", nullptr)) guard_ = PyRef();
}

TorchGuard::~TorchGuard() {
  if (!guard_) return;
  // The launch may be failing: its exception has to outlive the call.
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  static PyObject* const nothing = Py_BuildValue("(OOO)", Py_None, Py_None, Py_None);
  callQuietly(guard_.get(), "__exit__", nothing);
  PyErr_Restore(type, value, traceback);
}

PyObject* setTorchGuard(PyObject*, PyObject* type) {
  guardType() = type == Py_None ? PyRef() : PyRef::borrow(type);
  return PyRef::borrow(Py_None).release();
}

} // namespace tiletwin::python
