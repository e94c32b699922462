// python/src/Module.cpp -- the extension module tiletwin._C: what Python sees of the C++ side.
// Here:      the module definition; each file of this folder adds its own objects.
// Not here:  the language's objects (frontend/Objects.h), launches (Launcher.cpp), compilation (Compile.cpp).
#include "Parts.h"
#include "frontend/PyFunctions.h"
#include "runtime/PrintSelection.h"
#include <string>

namespace tiletwin::frontend {
bool addObjects(PyObject* module); // frontend/Objects.h, whose MLIR headers this file does without
}

namespace tiletwin::python {
namespace {

/// The main interpreter of the process; ImportError set if this is another one.
bool isMainInterpreter() {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return true;
  PyErr_SetString(PyExc_ImportError,
                  "tiletwin keeps its types and its threads once per process: it cannot be imported in a "
                  "subinterpreter; use the main interpreter, a thread or a process");
  return false;
}

void sayMissedPrints() {
  for (const std::string& line : missedSelections()) PySys_FormatStderr("%s\n", line.c_str());
}

bool execute(PyObject* module) {
  return isMainInterpreter() && frontend::addObjects(module) && addCompile(module) && addLauncher(module) &&
         addRegistry(module) && addKnobs(module) && addEagerLooks(module) && addEagerObserver(module) &&
         addEagerSession(module) && addCheckReport(module) && addEagerRun(module) && addProbeCalls(module) &&
         addDiffCalls(module) && addRawLaunch(module) &&
         addFunctions(
             module,
             {function<"say_missed_prints", sayMissedPrints>(
                 "Says on stderr which programs of TILETWIN_PRINT no launch has had; called when Python ends.")}) &&
         call(imported("atexit", "register"), attribute(module, "say_missed_prints"));
}

} // namespace
} // namespace tiletwin::python

PyMODINIT_FUNC PyInit__C() {
  return tiletwin::defineModule<tiletwin::python::execute>("_C", "The native part of tiletwin.");
}
