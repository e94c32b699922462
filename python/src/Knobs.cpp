// python/src/Knobs.cpp -- see Knobs.h.
#include "Knobs.h"
#include "Parts.h"
#include "frontend/PackageObject.h"
#include "frontend/PyFunctions.h"

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

void setKnobs(ListArgument enter, ListArgument leave, std::span<const std::byte> suffix) {
  knobs().enterHooks = toPython(enter.get());
  knobs().exitHooks = toPython(leave.get());
  knobs().keySuffix.assign(reinterpret_cast<const char*>(suffix.data()), suffix.size());
}

} // namespace

bool addKnobs(PyObject* module) {
  return addFunctions(
      module, {function<"set_knobs", setKnobs>(
                  "set_knobs(enter_hooks, exit_hooks, key_suffix): what launches look at; called by tiletwin.knobs.")});
}

bool launchesAreWatched() {
  const Knobs& all = knobs();
  return all.enterHooks && (PyList_Size(all.enterHooks.get()) > 0 || PyList_Size(all.exitHooks.get()) > 0);
}

const std::string& knobsKeySuffix() { return knobs().keySuffix; }

PyRef enterLaunch(PyObject* function, PyObject* kernel, PyObject* arguments, PyObject* grid) {
  return call(packageObject("enter_launch"), function, kernel, arguments, grid);
}

bool leaveLaunch(PyObject* metadata) { return bool(call(packageObject("leave_launch"), metadata)); }

} // namespace tiletwin::python
