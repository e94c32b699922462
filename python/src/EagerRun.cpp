// python/src/EagerRun.cpp -- see EagerRun.h.
#include "EagerRun.h"
#include "Gil.h"
#include "Parts.h"
#include "frontend/PyFunctions.h"
#include "frontend/Tracing.h"

namespace tiletwin::python {
namespace {

using frontend::TracingPause;

/// object.method(arguments...), whose code may give the GIL away.
template <class... T> PyRef callFreely(PyObject* object, const char* method, T... arguments) {
  return takeGil([&] { return callMethod(object, method, arguments...); });
}

/// Runs programs as `run.begin(runner)` hands them out: (function, args, kwargs, session, (x, y, z), whether a debugger
/// sees it), until that is None.
/// `run.ended(runner, error)` learns of each program's end. False with an exception set that is no program's.
bool work(PyObject* run, PyObject* runner, TracingPause& pause) {
  for (;;) {
    PyRef next = callFreely(run, "begin", runner);
    if (!next) return false;
    if (next.get() == Py_None) return true;
    PyObject *function, *args, *kwargs, *session, *ids;
    int isTraced;
    if (!PyArg_ParseTuple(next.get(), "OO!O!OO!p", &function, &PyTuple_Type, &args, &PyDict_Type, &kwargs, &session,
                          &PyTuple_Type, &ids, &isTraced))
      return false;
    PyRef enter = attribute(session, "enter");
    if (!enter || !PyRef::steal(PyObject_Call(enter.get(), ids, nullptr))) return false;
    if (isTraced) pause.resume();
    PyRef result = PyRef::steal(takeGil([&] { return PyObject_Call(function, args, kwargs); }));
    if (isTraced) pause.pause();
    PyRef error = result ? none() : takeError();
    if (!callFreely(session, "leave") || !callFreely(run, "ended", runner, error.get())) return false;
  }
}

/// What a thread of programs that wait does; `trace`: the launching thread's trace function.
bool eagerWork(PyObject* run, PyObject* runner, std::optional<PyObject*> trace) {
  if (trace) TracingPause::set(*trace);
  bool done;
  {
    TracingPause pause;
    done = work(run, runner, pause);
  }
  if (trace) TracingPause::set(Py_None);
  return done;
}

PyRef userTrace() {
  PyRef trace = TracingPause::users();
  return trace ? trace : none();
}

/// untraced_method(function): a method through which a debugger's `step` goes as through a C function.
struct UntracedMethod {
  PyRef function;
};

/// call(x), with the tuple (function, self).
PyObject* callUntraced(PyObject* pair, PyObject* argument) {
  TracingPause pause;
  return call(itemsOf(pair)[0], itemsOf(pair)[1], argument).release();
}
PyMethodDef kCallUntraced = {"untraced", callUntraced, METH_O, nullptr};

PyObject* newUntraced(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject* function;
  if (!PyArg_ParseTuple(args, "O:untraced_method", &function)) return nullptr;
  return Object<UntracedMethod>::makeOf(type, PyRef::borrow(function)).release();
}
PyObject* bindUntraced(PyObject* self, PyObject* object, PyObject*) {
  if (!object || object == Py_None) return PyRef::borrow(self).release();
  PyRef pair = pyTuple(Object<UntracedMethod>::of(self).function, object);
  return pair ? PyCFunction_NewEx(&kCallUntraced, pair.get(), nullptr) : nullptr;
}
/// A program that wraps the method takes it from the class and calls it as a plain function.
PyObject* callUnbound(PyObject* self, PyObject* args, PyObject* kwargs) {
  TracingPause pause;
  return PyObject_Call(Object<UntracedMethod>::of(self).function.get(), args, kwargs);
}

} // namespace

PyRef finishEagerRun(PyObject* run) {
  TracingPause pause;
  PyRef runner = attribute(run, "main");
  if (!runner) return {};
  if (!work(run, runner.get(), pause)) {
    PyRef error = takeError();
    if (!callFreely(run, "ended", runner.get(), error.get())) return {};
  }
  PyRef outcome = callFreely(run, "finish");
  PyObject *kernel, *error;
  if (!outcome || !PyArg_ParseTuple(outcome.get(), "OO", &kernel, &error)) return {};
  if (error == Py_None) return PyRef::borrow(kernel);
  putError(PyRef::borrow(error));
  return {};
}

bool addEagerRun(PyObject* module) {
  return addType<UntracedMethod>(
             module, {.name = "tiletwin._C.untraced_method",
                      .doc = "untraced_method(function): a method of one argument that debuggers do not step into.",
                      .slots = {slot(Py_tp_new, newUntraced), slot(Py_tp_call, callUnbound),
                                slot(Py_tp_descr_get, bindUntraced)},
                      .flags = 0}) &&
         addFunctions(
             module,
             {function<"eager_work", eagerWork>("eager_work(run, runner, trace): runs programs on this thread."),
              function<"user_trace", userTrace>("The trace function of the user's code on this thread, or None.")});
}

} // namespace tiletwin::python
