// frontend/Tracing.cpp -- see Tracing.h.
#include "frontend/Tracing.h"
#include <string_view>
#include <utility>

namespace tiletwin::frontend {
namespace {

/// Keeps an exception that is set out of the way.
struct ErrorKept {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  ErrorKept() { PyErr_Fetch(&type, &value, &traceback); }
  ~ErrorKept() { PyErr_Restore(type, value, traceback); }
};

thread_local PyObject* paused = nullptr; ///< what a TracingPause of this thread keeps

/// A function of pydevd's, behind debugpy and PyCharm: it warns about every other caller of sys.settrace.
bool isPydevd(PyObject* trace) {
  for (PyObject* object : {trace, reinterpret_cast<PyObject*>(Py_TYPE(trace))}) {
    PyRef module = PyRef::steal(PyObject_GetAttrString(object, "__module__"));
    const char* text =
        module && PyUnicode_Check(module.get()) ? PyUnicode_AsUTF8AndSize(module.get(), nullptr) : nullptr;
    PyErr_Clear();
    if (text && std::string_view(text).find("pydevd") != std::string_view::npos) return true;
  }
  return false;
}

} // namespace

PyRef TracingPause::current() {
  static PyObject* const get = PySys_GetObject("gettrace"); // once: every launch asks
  PyRef trace = get ? PyRef::steal(PyObject_CallFunctionObjArgs(get, nullptr)) : PyRef();
  return trace && trace.get() != Py_None ? trace : PyRef();
}

PyRef TracingPause::users() { return paused ? PyRef::borrow(paused) : current(); }

void TracingPause::set(PyObject* function) {
  PyObject* settrace = PySys_GetObject("settrace");
  PyRef done = settrace ? PyRef::steal(PyObject_CallFunctionObjArgs(settrace, function, nullptr)) : PyRef();
}

void TracingPause::resume() {
  if (!trace_) return;
  ErrorKept kept;
  PyRef trace = std::exchange(trace_, PyRef());
  paused = nullptr;
  set(trace.get());
}

void TracingPause::pause() {
  ErrorKept kept;
  PyRef trace = current();
  if (!trace || isPydevd(trace.get())) return;
  trace_ = std::move(trace);
  paused = trace_.get();
  set(Py_None);
}

TracingPause::TracingPause() { pause(); }
TracingPause::~TracingPause() { resume(); }

} // namespace tiletwin::frontend
