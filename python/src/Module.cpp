// python/src/Module.cpp -- the extension module tiletwin._C: what Python sees of the C++ side.
// Here:      the module definition; each file of this folder adds its own objects.
// Not here:  the language's objects (frontend/Objects.h), launches (Launcher.cpp), compilation (Compile.cpp).
#include "CheckReport.h"
#include "Compile.h"
#include "EagerRun.h"
#include "EagerSession.h"
#include "Knobs.h"
#include "Launcher.h"
#include "Registry.h"
#include "runtime/PrintSelection.h"
#include <string>

namespace tiletwin::frontend {
int addObjects(PyObject* module); // frontend/Objects.h, whose MLIR headers this file does without
}

namespace tiletwin::python {
int addEagerBuilder(PyObject* module);  // EagerBuilder.h, likewise
int addEagerObserver(PyObject* module); // EagerObserver.h, likewise
int addProbeCalls(PyObject* module);    // ProbeCalls.h, likewise
int addDiffCalls(PyObject* module);     // DiffCalls.h, likewise
} // namespace tiletwin::python

namespace {

/// The main interpreter of the process; ImportError set if this is another one.
bool isMainInterpreter() {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return true;
  PyErr_SetString(PyExc_ImportError,
                  "tiletwin keeps its types and its threads once per process: it cannot be imported in a "
                  "subinterpreter; use the main interpreter, a thread or a process");
  return false;
}

PyObject* sayMissedPrints(PyObject*, PyObject*) {
  for (const std::string& line : tiletwin::missedSelections()) PySys_FormatStderr("%s\n", line.c_str());
  return Py_NewRef(Py_None);
}

PyMethodDef kFunctions[] = {
    {"say_missed_prints", sayMissedPrints, METH_NOARGS,
     "Says on stderr which programs of TILETWIN_PRINT no launch has had; called when Python ends."},
    {nullptr, nullptr, 0, nullptr},
};

bool callAtExit(PyObject* module, const char* function) {
  tiletwin::PyRef atExit = tiletwin::PyRef::steal(PyImport_ImportModule("atexit"));
  tiletwin::PyRef called = tiletwin::PyRef::steal(PyObject_GetAttrString(module, function));
  return atExit && called && tiletwin::PyRef::steal(PyObject_CallMethod(atExit.get(), "register", "O", called.get()));
}

int executeModule(PyObject* module) {
  using namespace tiletwin::python;
  if (!isMainInterpreter()) return -1;
  if (tiletwin::frontend::addObjects(module) < 0 || addCompile(module) < 0 || addLauncher(module) < 0 ||
      addRegistry(module) < 0 || addKnobs(module) < 0 || addEagerBuilder(module) < 0 || addEagerObserver(module) < 0 ||
      addEagerSession(module) < 0 || addCheckReport(module) < 0 || addEagerRun(module) < 0 ||
      addProbeCalls(module) < 0 || addDiffCalls(module) < 0 || PyModule_AddFunctions(module, kFunctions) < 0 ||
      !callAtExit(module, "say_missed_prints"))
    return -1;
  return 0;
}

PyModuleDef_Slot kSlots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(executeModule)},
    {0, nullptr},
};

PyModuleDef kModule = {
    PyModuleDef_HEAD_INIT, "_C", "The native part of tiletwin.", 0, nullptr, kSlots, nullptr, nullptr, nullptr,
};

} // namespace

PyMODINIT_FUNC PyInit__C() { return PyModuleDef_Init(&kModule); }
