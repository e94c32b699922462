// frontend/PyRef.h -- one owner type for Python references; the only file with Py_INCREF and Py_DECREF.
// Null means "a Python error is set": return at once. All of this needs the GIL.
#pragma once
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>
#include <utility>

namespace tiletwin {

class PyRef {
public:
  PyRef() = default;
  /// Takes over a new reference (may be null).
  static PyRef steal(PyObject* object) {
    PyRef r;
    r.object_ = object;
    return r;
  }
  /// Adds a reference to a borrowed one (may be null).
  static PyRef borrow(PyObject* object) {
    Py_XINCREF(object);
    return steal(object);
  }
  PyRef(const PyRef& other) : object_(other.object_) { Py_XINCREF(object_); }
  PyRef(PyRef&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  PyRef& operator=(PyRef other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~PyRef() { Py_XDECREF(object_); }
  PyObject* get() const { return object_; }
  /// Gives the reference away.
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

private:
  PyObject* object_ = nullptr;
};

} // namespace tiletwin
