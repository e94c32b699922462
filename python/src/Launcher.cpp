// python/src/Launcher.cpp -- `kernel[grid](...)`: the Python types Launcher (one per JIT function) and BoundLaunch (one per
// grid).
// Here:      a launch from its arguments to its end, in the order of its steps.
// Not here:  the steps: binding and keys (Binding.h), the cache of specializations (LauncherState.h), where the launch
//            runs (LaunchRoutes.h), compilation (kernels/jit.py calls Compile.h).
// Invariant: a launch that finds its key compiles nothing and runs no Python code but the grid's and the hooks'.
#include "Binding.h"
#include "Compile.h"
#include "Grid.h"
#include "LaunchRoutes.h"
#include "LauncherState.h"
#include "Parts.h"
#include "ProgramLaunch.h"
#include "frontend/PackageObject.h"
#include "frontend/PyFunctions.h"
#include "runtime/Environment.h"

namespace tiletwin::python {
namespace {

struct BoundLaunch {
  PyRef function; ///< the JIT function: keeps launcher and parameters alive
  Launcher* launcher;
  PyRef grid;
};

/// What `kernel[grid]` needs of its launcher besides the call itself.
PyRef gridValue(const Launcher& launcher, PyObject* grid, const Call& call) {
  if (!PyCallable_Check(grid)) return PyRef::borrow(grid);
  return tiletwin::call(grid, boundArguments(launcher, call));
}

bool callPreRunHooks(const Launcher& launcher, const Call& call) {
  const PyRef& hooks = launcher.preRunHooks;
  if (PyList_Size(hooks.get()) == 0) return true;
  PyRef arguments = boundArguments(launcher, call), empty = pyTuple();
  for (Py_ssize_t i = 0; arguments && i < PyList_Size(hooks.get()); ++i) {
    PyRef hook = PyRef::borrow(PyList_GetItem(hooks.get(), i));
    if (!PyRef::steal(PyObject_Call(hook.get(), empty.get(), arguments.get()))) return false;
  }
  return bool(arguments);
}

/// From the first launch with TILETWIN_CHECK on it is known what torch.empty makes, even if the variable was set late.
bool watchFreshMemory() {
  static bool watched = false;
  if (watched) return true;
  return watched = bool(call(packageObject("watch_fresh_memory")));
}

/// Null with a ValueError set: a variable holds what it must not.
std::shared_ptr<const environment::LaunchVariables> readVariables(const Launcher& launcher) {
  try {
    return environment::launchVariables();
  } catch (const environment::Error& error) {
    PyErr_Format(PyExc_ValueError, "%s: %s", launcher.name.c_str(), error.what());
    return nullptr;
  }
}

/// Whether a compiled launch of these arguments runs on a GPU.
bool wantsGpu(const Call& call, const environment::LaunchVariables& variables) {
  return !variables.interprets && (call.onDevice || variables.backend == "cuda");
}

PyObject* launch(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywordNames) {
  const BoundLaunch& bound = Object<BoundLaunch>::of(self);
  Launcher& launcher = *bound.launcher;
  Call call;
  const auto read = readVariables(launcher);
  if (!read) return nullptr;
  const environment::LaunchVariables& variables = *read;
  const bool checks = !environment::isOff(variables.check);
  if (checks && !watchFreshMemory()) return nullptr;
  keepViewShapes(checks);
  if (!bindArguments(launcher.name, launcher.parameters, args, count, keywordNames, call) ||
      !classify(launcher.name, launcher.parameters, launcher.constants.get(), call) || !callPreRunHooks(launcher, call))
    return nullptr;
  int eager = wantsEager(launcher, variables);
  if (eager < 0) return nullptr;
  GpuPlace gpu;
  if (!eager && wantsGpu(call, variables) && !readGpuPlace(gpu)) return nullptr;
  std::shared_ptr<Entry> entry = eager ? nullptr : entryFor(launcher, call, variables.check, gpu.capability);
  if (!eager && !entry) return nullptr;
  if (entry && entry->kernel.get() == Py_None) return PyRef(entry->kernel).release();
  PyRef grid = gridValue(launcher, bound.grid.get(), call);
  std::array<int32_t, 3> numbers;
  if (!grid || !readGrid(launcher.name, grid.get(), numbers)) return nullptr;
  bool isEmpty = numbers[0] == 0 || numbers[1] == 0 || numbers[2] == 0;
  if (call.onDevice && !isEmpty && (variables.interprets || !entry))
    return delegateLaunch(launcher, "launch_on_copies", call, numbers, Py_None).release();
  return runLaunch(launcher, entry.get(), call, numbers, variables, gpu).release();
}

PyMethodDef kLaunch = {"launch", anyFunction(launch), METH_FASTCALL | METH_KEYWORDS,
                       "Launches the kernel on the grid this was bound to; returns the compiled kernel."};

/// bind(grid): the callable that `kernel[grid]` is. Every launch comes here first.
PyObject* bindGrid(PyObject* self, PyObject* grid) {
  Launcher& launcher = Object<Launcher>::of(self);
  PyRef bound = Object<BoundLaunch>::make(PyRef::borrow(launcher.function), &launcher, PyRef::borrow(grid));
  return bound ? PyCFunction_NewEx(&kLaunch, bound.get(), nullptr) : nullptr;
}

/// What the launch of these arguments would be compiled for: 0 where it is interpreted. Where dtypes stand in for arrays the
/// active driver says it, if it does: that needs no GPU. False with an exception set.
bool capabilityForWarmup(const Call& call, const environment::LaunchVariables& variables, int& out) {
  out = 0;
  if (variables.interprets) return true;
  GpuPlace gpu;
  if (!call.buffers.empty()) {
    if (wantsGpu(call, variables) && !readGpuPlace(gpu)) return false;
    out = gpu.capability;
    return true;
  }
  PyRef number = tiletwin::call(packageObject("launch_capability"));
  out = number ? int(PyLong_AsLong(number.get())) : 0;
  if (!number || PyErr_Occurred()) return false;
  if (out || !wantsGpu(call, variables)) return true;
  if (!readGpuPlace(gpu)) return false;
  out = gpu.capability;
  return true;
}

/// Launcher.prepare(args, kwargs): compiles the specialization without launching; arrays may be dtypes' stand-ins.
PyObject* prepare(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywordNames) {
  Launcher& launcher = Object<Launcher>::of(self);
  Call call;
  if (!bindArguments(launcher.name, launcher.parameters, args, count, keywordNames, call) ||
      !classify(launcher.name, launcher.parameters, launcher.constants.get(), call))
    return nullptr;
  const auto read = readVariables(launcher);
  if (!read) return nullptr;
  const environment::LaunchVariables& variables = *read;
  int capability = 0;
  if (!capabilityForWarmup(call, variables, capability)) return nullptr;
  std::shared_ptr<Entry> entry = entryFor(launcher, call, variables.check, capability);
  return entry ? PyRef(entry->kernel).release() : nullptr;
}

void clearEntries(Launcher& launcher) { launcher.entries.clear(); }

/// (key, compiled kernel), for JITFunction.cache.
PyRef kernels(const Launcher& launcher) {
  return pyList(launcher.entries, [](const auto& entry) {
    return pyTuple(pyBytes(entry.first.data(), entry.first.size()), entry.second->kernel);
  });
}

/// Launcher(function, name, parameters, list of hooks). `function` must outlive the launcher.
PyObject* newLauncher(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject *function, *parameters, *hooks;
  const char* name;
  if (!PyArg_ParseTuple(args, "OsOO!:Launcher", &function, &name, &parameters, &PyList_Type, &hooks)) return nullptr;
  Launcher launcher;
  launcher.function = function;
  launcher.name = name;
  launcher.preRunHooks = PyRef::borrow(hooks);
  launcher.constants = pyDict();
  if (!launcher.constants || !readParameters(parameters, launcher.parameters)) return nullptr;
  return Object<Launcher>::makeOf(type, std::move(launcher)).release();
}

// Compiled kernels refer to their JIT function, which owns the launcher: the collector must see the way round.
int traverseLauncher(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(typeOf(self));
  const Launcher& launcher = Object<Launcher>::of(self);
  Py_VISIT(launcher.constants.get());
  Py_VISIT(launcher.preRunHooks.get());
  for (const Parameter& p : launcher.parameters) Py_VISIT(p.defaultValue.get());
  for (auto& [key, entry] : launcher.entries) {
    if (entry.use_count() > 1) continue; // a launch is using it
    Py_VISIT(entry->kernel.get());
    for (const UsedGlobal& global : entry->globals) {
      Py_VISIT(global.dict.get());
      Py_VISIT(global.value.get());
    }
    for (const PyRef& object : entry->keepAlive) Py_VISIT(object.get());
  }
  return 0;
}
int clearLauncher(PyObject* self) {
  Launcher& launcher = Object<Launcher>::of(self);
  auto entries = std::move(launcher.entries);
  launcher.entries.clear();
  launcher.constants = pyDict();
  return 0;
}

/// Launches a CompiledModule that no JIT function stands behind.
bool launchModule(PyObject* module, PyObject* grid, TupleArgument values, PyObject* names) {
  std::shared_ptr<const interp::Program> program = programOf(module);
  if (!program) return false;
  Launcher plain;
  plain.name = program->name();
  plain.constants = pyDict();
  Call call;
  for (PyObject* value : itemsOf(values.get())) {
    const size_t i = call.values.size();
    Parameter p;
    p.specialize = p.specializeAlignment = false;
    const bool isNamed = PyList_Check(names) && i < itemsOf(names).size();
    p.nameText = isNamed ? stringOf(itemsOf(names)[i]) : "argument " + std::to_string(i);
    plain.parameters.push_back(std::move(p));
    call.values.push_back(value);
  }
  std::array<int32_t, 3> numbers;
  if (!classify(plain.name, plain.parameters, plain.constants.get(), call) || !readGrid(plain.name, grid, numbers))
    return false;
  return !numbers[0] || !numbers[1] || !numbers[2] || launchCall(plain.name, *program, call, numbers);
}

} // namespace

bool addLauncher(PyObject* module) {
  return addType<BoundLaunch>(nullptr, {.name = "tiletwin._C.BoundLaunch", .doc = nullptr}) &&
         addType<Launcher>(
             module,
             {.name = "tiletwin._C.Launcher",
              .doc =
                  "Launcher(jit_function, name, parameters, pre_run_hooks): binds arguments, finds the specialization, "
                  "launches.",
              .methods = {{"bind", bindGrid, METH_O, "bind(grid): a callable that launches the kernel on `grid`."},
                          {"prepare", anyFunction(prepare), METH_FASTCALL | METH_KEYWORDS,
                           "prepare(*args, **kwargs): compiles for these arguments without launching; returns the "
                           "compiled kernel."},
                          method<"clear", clearEntries>("Forgets every compiled specialization."),
                          method<"kernels", kernels>("List of (launch key, compiled kernel).")},
              .slots = {slot(Py_tp_new, newLauncher), slot(Py_tp_traverse, traverseLauncher),
                        slot(Py_tp_clear, clearLauncher)},
              .flags = Py_TPFLAGS_HAVE_GC}) &&
         addFunctions(module, {function<"launch_module", launchModule>(
                                  "launch_module(module, grid, args, names): launches a CompiledModule on its own.")});
}

} // namespace tiletwin::python
