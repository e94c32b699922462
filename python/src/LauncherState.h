// python/src/LauncherState.h -- what the launcher of one JIT function keeps: parameters, hooks, compiled specializations.
// Here:      finding the specialization of a call by its key, or having it compiled.
// Not here:  the key (Binding.h), the Python type (Launcher.cpp), where a launch runs (LaunchRoutes.h).
// Invariant: an entry is found only while the globals that its kernel used are still the objects they were.
#pragma once
#include "Binding.h"
#include "GpuLaunch.h"
#include "frontend/PyRef.h"
#include "interp/Interp.h"
#include "runtime/Environment.h"
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace tiletwin::python {

/// A global the kernel used while it was compiled: launches check that it is still the same object.
struct UsedGlobal {
  PyRef dict, name, value;
};

/// A compiled specialization.
struct Entry {
  PyRef kernel;                                   ///< compiler.CompiledKernel
  std::shared_ptr<const interp::Program> program; ///< null until first launched
  std::string numerics, gdb, check;               ///< TILETWIN_NUMERICS, _GDB and _CHECK it was planned for
  std::vector<GpuForms> onGpu;                    ///< by number of the GPU
  std::vector<UsedGlobal> globals;
  std::vector<PyRef> keepAlive; ///< types whose addresses are in the key
};

/// One per JIT function. Every member is used under the GIL only.
struct Launcher {
  PyObject* function = nullptr; ///< borrowed: the JIT function owns its launcher
  std::string name;
  std::vector<Parameter> parameters;
  PyRef preRunHooks; ///< list of functions called with the arguments before each launch
  enum {
    Unknown,
    No,
    Yes
  } needsEager = Unknown; ///< the kernel's text needs eager mode: it calls breakpoint(), a Python function
  PyRef constants;        ///< dict (type, value) -> number, of compile-time values in keys
  std::unordered_map<std::string, std::shared_ptr<Entry>> entries;
};

/// The arguments of a call by name, as a dict. Null with an error set.
PyRef boundArguments(const Launcher& launcher, const Call& call);

/// The specialization of a classified call; null with an exception set. The entry's kernel is None if a hook prevented
/// compilation. `check`: TILETWIN_CHECK, which changes what the front end emits. `capability`: of the GPU that the launch
/// runs on, or 0 for the interpreter.
std::shared_ptr<Entry> entryFor(Launcher& launcher, Call& call, const std::string& check, int capability);

/// Has the entry's program for the interpreter, as the variables want it. False with an exception set.
bool ensureProgram(Entry& entry, const environment::LaunchVariables& variables);

} // namespace tiletwin::python
