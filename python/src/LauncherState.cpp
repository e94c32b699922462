// python/src/LauncherState.cpp -- see LauncherState.h.
#include "LauncherState.h"
#include "Compile.h"
#include "Interned.h"
#include "Knobs.h"

namespace tiletwin::python {

PyRef boundArguments(const Launcher& launcher, const Call& call) {
  PyRef dict = pyDict();
  for (size_t i = 0; dict && i < call.values.size(); ++i)
    if (PyDict_SetItem(dict.get(), launcher.parameters[i].name.get(), call.values[i]) < 0) return {};
  return dict;
}

namespace {

/// Compiles the specialization of a call through JITFunction._compile, for a GPU's capability (0: for the interpreter). Null
/// with an exception set. The entry's kernel is None if a hook prevented compilation.
std::shared_ptr<Entry> compileEntry(Launcher& launcher, const Call& call, int capability) {
  Specialization spec;
  if (!specialize(launcher.parameters, call, spec)) return nullptr;
  auto entry = std::make_shared<Entry>();
  entry->kernel = callMethod(launcher.function, names::compile(), spec.signature, spec.constexprs, spec.attributes,
                             spec.options, capability);
  if (!entry->kernel) return nullptr;
  if (entry->kernel.get() == Py_None) return entry;
  PyRef globals = attribute(entry->kernel.get(), names::usedGlobals());
  PyRef list = PyRef::steal(globals ? PySequence_Tuple(globals.get()) : nullptr);
  if (!list) return nullptr;
  for (PyObject* row : itemsOf(list)) {
    PyObject *dict, *name, *value;
    if (!PyArg_ParseTuple(row, "O!OO", &PyDict_Type, &dict, &name, &value)) return nullptr;
    entry->globals.push_back({PyRef::borrow(dict), PyRef::borrow(name), PyRef::borrow(value)});
  }
  for (PyObject* value : call.values) entry->keepAlive.push_back(toPython(typeOf(value)));
  return entry;
}

/// 1: as when the kernel was compiled; 0: a helper function or class was replaced, compile again; -1: RuntimeError, a
/// value changed.
int globalsUnchanged(const Launcher& launcher, const Entry& entry) {
  for (const UsedGlobal& global : entry.globals) {
    PyObject* now = PyDict_GetItemWithError(global.dict.get(), global.name.get());
    if (now == global.value.get()) continue;
    ObjectKind kind = factsOf(global.value.get()).kind;
    if (now && (kind == ObjectKind::JitFunction || kind == ObjectKind::Other)) return 0; // Other: a class, a dtype
    if (now && PyObject_RichCompareBool(now, global.value.get(), Py_EQ) == 1) continue;
    PyErr_Clear();
    PyErr_Format(
        PyExc_RuntimeError,
        "%s: the global %U was %R when the kernel was compiled and is %R now; a kernel's globals must not change. "
        "Pass it as a tl.constexpr argument instead",
        launcher.name.c_str(), global.name.get(), global.value.get(), now ? now : Py_None);
    return -1;
  }
  return 1;
}

} // namespace

std::shared_ptr<Entry> entryFor(Launcher& launcher, Call& call, const std::string& check, int capability) {
  call.key += knobsKeySuffix();
  call.key += check;
  if (capability) call.key.append({'G', char(capability)});
  auto found = launcher.entries.find(call.key);
  if (found != launcher.entries.end()) {
    int same = globalsUnchanged(launcher, *found->second);
    if (same < 0) return nullptr;
    if (same > 0) return found->second;
    launcher.entries.clear();
  }
  std::string key = call.key;
  std::shared_ptr<Entry> entry = compileEntry(launcher, call, capability);
  if (!entry || entry->kernel.get() == Py_None) return entry;
  // Another thread's may be first: launches of a key have one entry, and so one kernel.
  return launcher.entries.try_emplace(std::move(key), entry).first->second;
}

bool ensureProgram(Entry& entry, const environment::LaunchVariables& variables) {
  if (entry.program && entry.numerics == variables.numerics && entry.gdb == variables.gdb &&
      entry.check == variables.check)
    return true;
  if (!entry.program && !callMethod(entry.kernel.get(), names::load())) return false; // the user's hooks around loading
  PyRef module = attribute(entry.kernel.get(), names::module());
  entry.program = module ? programOf(module.get()) : nullptr;
  entry.numerics = variables.numerics;
  entry.gdb = variables.gdb;
  entry.check = variables.check;
  return bool(entry.program);
}

} // namespace tiletwin::python
