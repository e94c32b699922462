// python/src/Knobs.cpp -- see Knobs.h.
#include "Knobs.h"
#include "Interned.h"
#include "frontend/PackageObject.h"

namespace tiletwin::python {
namespace {

struct Knobs {
  PyRef enterHooks, exitHooks; ///< lists, shared with Python: hooks are added to and removed from them there
  std::string keySuffix;
};

/// Never destroyed: the interpreter may be gone when static objects are.
Knobs& knobs() {
  static Knobs* const all = new Knobs;
  return *all;
}

/// set_knobs(hooks before launches, hooks after launches, bytes that become part of launch keys)
PyObject* setKnobs(PyObject*, PyObject* args) {
  PyObject *enter, *leave;
  const char* suffix;
  Py_ssize_t size;
  if (!PyArg_ParseTuple(args, "O!O!y#:set_knobs", &PyList_Type, &enter, &PyList_Type, &leave, &suffix, &size))
    return nullptr;
  knobs().enterHooks = PyRef::borrow(enter);
  knobs().exitHooks = PyRef::borrow(leave);
  knobs().keySuffix.assign(suffix, size_t(size));
  return PyRef::borrow(Py_None).release();
}

PyMethodDef kFunctions[] = {
    {"set_knobs", setKnobs, METH_VARARGS,
     "set_knobs(enter_hooks, exit_hooks, key_suffix): what launches look at; called by tiletwin.knobs."},
    {nullptr, nullptr, 0, nullptr},
};

} // namespace

int addKnobs(PyObject* module) { return PyModule_AddFunctions(module, kFunctions); }

bool launchesAreWatched() {
  const Knobs& all = knobs();
  return all.enterHooks && (PyList_Size(all.enterHooks.get()) > 0 || PyList_Size(all.exitHooks.get()) > 0);
}

const std::string& knobsKeySuffix() { return knobs().keySuffix; }

PyRef enterLaunch(PyObject* function, PyObject* kernel, PyObject* arguments, PyObject* grid) {
  PyRef enter = packageObject("enter_launch");
  return PyRef::steal(enter ? PyObject_CallFunctionObjArgs(enter.get(), function, kernel, arguments, grid, nullptr)
                            : nullptr);
}

bool leaveLaunch(PyObject* metadata) {
  PyRef leave = packageObject("leave_launch");
  return bool(PyRef::steal(leave ? PyObject_CallFunctionObjArgs(leave.get(), metadata, nullptr) : nullptr));
}

} // namespace tiletwin::python
