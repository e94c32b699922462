// frontend/Tracing.cpp -- see Tracing.h.
#include "frontend/Tracing.h"
#include "frontend/PyValues.h"
#include <utility>

namespace tiletwin::frontend {
namespace {

thread_local PyObject* paused = nullptr; ///< what a TracingPause of this thread keeps

/// A function of pydevd's, behind debugpy and PyCharm: it warns about every other caller of sys.settrace.
bool isPydevd(PyObject* trace) {
  for (PyObject* object : {trace, typeOf(trace)})
    if (moduleNameOf(object).find("pydevd") != std::string::npos) return true;
  return false;
}

} // namespace

PyRef TracingPause::current() {
  static PyObject* const get = PySys_GetObject("gettrace"); // once: every launch asks
  PyRef trace = call(get);
  return trace && trace.get() != Py_None ? trace : PyRef();
}

PyRef TracingPause::users() { return paused ? PyRef::borrow(paused) : current(); }

void TracingPause::set(PyObject* function) { PyRef done = call(PySys_GetObject("settrace"), function); }

void TracingPause::resume() {
  if (!trace_) return;
  const ErrorKept kept;
  PyRef trace = std::exchange(trace_, PyRef());
  paused = nullptr;
  set(trace.get());
}

void TracingPause::pause() {
  const ErrorKept kept;
  PyRef trace = current();
  if (!trace || isPydevd(trace.get())) return;
  trace_ = std::move(trace);
  paused = trace_.get();
  set(Py_None);
}

TracingPause::TracingPause() { pause(); }
TracingPause::~TracingPause() { resume(); }

} // namespace tiletwin::frontend
