// python/src/EagerRun.cpp -- see EagerRun.h.
#include "EagerRun.h"
#include "Gil.h"
#include "Interned.h"
#include "frontend/Tracing.h"

namespace tiletwin::python {
namespace {

using frontend::TracingPause;

/// The exception that is set, taken, with its traceback; null: none.
PyRef takeException() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (value && traceback) PyException_SetTraceback(value, traceback);
  PyRef ownType = PyRef::steal(type), ownTraceback = PyRef::steal(traceback);
  return PyRef::steal(value);
}

void putException(PyObject* error) {
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(error));
  PyErr_Restore(PyRef::borrow(type).release(), PyRef::borrow(error).release(), PyException_GetTraceback(error));
}

PyRef call(PyObject* object, const char* method, PyObject* first = nullptr, PyObject* second = nullptr) {
  PyRef name = PyRef::steal(PyUnicode_InternFromString(method));
  return PyRef::steal(
      name ? takeGil([&] { return PyObject_CallMethodObjArgs(object, name.get(), first, second, nullptr); }) : nullptr);
}

/// Runs programs as `run.begin(runner)` hands them out: (function, args, kwargs, session, (x, y, z), whether a debugger
/// sees it), until that is None.
/// `run.ended(runner, error)` learns of each program's end. False with an exception set that is no program's.
bool work(PyObject* run, PyObject* runner, TracingPause& pause) {
  for (;;) {
    PyRef next = call(run, "begin", runner);
    if (!next) return false;
    if (next.get() == Py_None) return true;
    PyObject *function, *args, *kwargs, *session, *ids;
    int isTraced;
    if (!PyArg_ParseTuple(next.get(), "OO!O!OO!p", &function, &PyTuple_Type, &args, &PyDict_Type, &kwargs, &session,
                          &PyTuple_Type, &ids, &isTraced))
      return false;
    PyRef enter = PyRef::steal(PyObject_GetAttrString(session, "enter"));
    if (!enter || !PyRef::steal(PyObject_Call(enter.get(), ids, nullptr))) return false;
    if (isTraced) pause.resume();
    PyRef result = PyRef::steal(takeGil([&] { return PyObject_Call(function, args, kwargs); }));
    if (isTraced) pause.pause();
    PyRef error = result ? PyRef::borrow(Py_None) : takeException();
    if (!call(session, "leave") || !call(run, "ended", runner, error.get())) return false;
  }
}

/// eager_work(run, runner, trace): what a thread of programs that wait does; `trace`: the launching thread's trace function.
PyObject* eagerWork(PyObject*, PyObject* args) {
  PyObject *run, *runner, *trace;
  if (!PyArg_ParseTuple(args, "OOO:eager_work", &run, &runner, &trace)) return nullptr;
  if (trace != Py_None) TracingPause::set(trace);
  bool done;
  {
    TracingPause pause;
    done = work(run, runner, pause);
  }
  if (trace != Py_None) TracingPause::set(Py_None);
  return done ? PyRef::borrow(Py_None).release() : nullptr;
}

PyObject* userTrace(PyObject*, PyObject*) {
  PyRef trace = TracingPause::users();
  return trace ? trace.release() : PyRef::borrow(Py_None).release();
}

/// untraced_method(function): a method through which a debugger's `step` goes as through a C function.
struct UntracedMethod {
  PyObject_HEAD PyObject* function;
};

/// call(x), with the tuple (function, self).
PyObject* callUntraced(PyObject* pair, PyObject* argument) {
  TracingPause pause;
  return PyObject_CallFunctionObjArgs(PyTuple_GetItem(pair, 0), PyTuple_GetItem(pair, 1), argument, nullptr);
}
PyMethodDef kCallUntraced = {"untraced", callUntraced, METH_O, nullptr};

PyObject* newUntraced(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject* function;
  if (!PyArg_ParseTuple(args, "O:untraced_method", &function)) return nullptr;
  PyObject* self = PyType_GenericAlloc(type, 0);
  if (self) reinterpret_cast<UntracedMethod*>(self)->function = PyRef::borrow(function).release();
  return self;
}
PyObject* bindUntraced(PyObject* self, PyObject* object, PyObject*) {
  if (!object || object == Py_None) return PyRef::borrow(self).release();
  PyRef pair = PyRef::steal(PyTuple_Pack(2, reinterpret_cast<UntracedMethod*>(self)->function, object));
  return pair ? PyCFunction_NewEx(&kCallUntraced, pair.get(), nullptr) : nullptr;
}
/// Taken from the class and called as a plain function, as those do who put their own in its place.
PyObject* callUnbound(PyObject* self, PyObject* args, PyObject* kwargs) {
  TracingPause pause;
  return PyObject_Call(reinterpret_cast<UntracedMethod*>(self)->function, args, kwargs);
}
void freeUntraced(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyRef function = PyRef::steal(reinterpret_cast<UntracedMethod*>(self)->function);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  PyRef::steal(reinterpret_cast<PyObject*>(type)); // instances of heap types hold their type
}
PyType_Slot kUntracedSlots[] = {
    {Py_tp_new, reinterpret_cast<void*>(newUntraced)},
    {Py_tp_dealloc, reinterpret_cast<void*>(freeUntraced)},
    {Py_tp_call, reinterpret_cast<void*>(callUnbound)},
    {Py_tp_descr_get, reinterpret_cast<void*>(bindUntraced)},
    {Py_tp_doc,
     const_cast<char*>("untraced_method(function): a method of one argument that debuggers do not step into.")},
    {0, nullptr},
};
PyType_Spec kUntracedSpec = {"tiletwin._C.untraced_method", sizeof(UntracedMethod), 0, Py_TPFLAGS_DEFAULT,
                             kUntracedSlots};

} // namespace

PyRef finishEagerRun(PyObject* run) {
  TracingPause pause;
  PyRef runner = PyRef::steal(PyObject_GetAttrString(run, "main"));
  if (!runner) return {};
  if (!work(run, runner.get(), pause)) {
    PyRef error = takeException();
    if (!call(run, "ended", runner.get(), error.get())) return {};
  }
  PyRef outcome = call(run, "finish");
  PyObject *kernel, *error;
  if (!outcome || !PyArg_ParseTuple(outcome.get(), "OO", &kernel, &error)) return {};
  if (error == Py_None) return PyRef::borrow(kernel);
  putException(error);
  return {};
}

int addEagerRun(PyObject* module) {
  static PyMethodDef functions[] = {
      {"eager_work", eagerWork, METH_VARARGS, "eager_work(run, runner, trace): runs programs on this thread."},
      {"user_trace", userTrace, METH_NOARGS, "The trace function of the user's code on this thread, or None."},
      {nullptr, nullptr, 0, nullptr},
  };
  PyRef type = PyRef::steal(PyType_FromSpec(&kUntracedSpec));
  if (!type || PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(type.get())) < 0) return -1;
  return PyModule_AddFunctions(module, functions);
}

} // namespace tiletwin::python
