// python/src/Launcher.cpp -- see Launcher.h.
#include "Launcher.h"
#include "Binding.h"
#include "Compile.h"
#include "Grid.h"
#include "Interned.h"
#include "LaunchRoutes.h"
#include "LauncherState.h"
#include "ProgramLaunch.h"
#include "frontend/PackageObject.h"
#include "runtime/Environment.h"

namespace tiletwin::python {
namespace {

struct LauncherObject {
  PyObject_HEAD Launcher* launcher;
};
struct BoundObject {
  PyObject_HEAD PyObject* function; ///< the JIT function: keeps launcher and parameters alive
  Launcher* launcher;
  PyObject* grid;
};

PyTypeObject* launcherType = nullptr;
PyTypeObject* boundType = nullptr;

/// What `kernel[grid]` needs of its launcher besides the call itself.
PyRef gridValue(const Launcher& launcher, PyObject* grid, const Call& call) {
  if (!PyCallable_Check(grid)) return PyRef::borrow(grid);
  PyRef meta = boundArguments(launcher, call);
  return PyRef::steal(meta ? PyObject_CallFunctionObjArgs(grid, meta.get(), nullptr) : nullptr);
}

bool callPreRunHooks(const Launcher& launcher, const Call& call) {
  const PyRef& hooks = launcher.preRunHooks;
  if (PyList_Size(hooks.get()) == 0) return true;
  PyRef arguments = boundArguments(launcher, call), empty = PyRef::steal(PyTuple_New(0));
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
  PyRef watch = packageObject("watch_fresh_memory");
  watched = watch && PyRef::steal(PyObject_CallNoArgs(watch.get()));
  return watched;
}

/// False with a ValueError set: a variable holds what it must not.
bool readVariables(const Launcher& launcher, environment::LaunchVariables& out) {
  try {
    out = environment::launchVariables();
  } catch (const environment::Error& error) {
    PyErr_Format(PyExc_ValueError, "%s: %s", launcher.name.c_str(), error.what());
    return false;
  }
  return true;
}

/// Whether a compiled launch of these arguments runs on a GPU.
bool wantsGpu(const Call& call, const environment::LaunchVariables& variables) {
  return !variables.interprets && (call.onDevice || variables.backend == "cuda");
}

PyObject* launch(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywordNames) {
  auto* bound = reinterpret_cast<BoundObject*>(self);
  Launcher& launcher = *bound->launcher;
  Call call;
  environment::LaunchVariables variables;
  if (!readVariables(launcher, variables)) return nullptr;
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
  PyRef grid = gridValue(launcher, bound->grid, call);
  std::array<int32_t, 3> numbers;
  if (!grid || !readGrid(launcher.name, grid.get(), numbers)) return nullptr;
  bool isEmpty = numbers[0] == 0 || numbers[1] == 0 || numbers[2] == 0;
  if (call.onDevice && !isEmpty && (variables.interprets || !entry))
    return delegateLaunch(launcher, "launch_on_copies", call, numbers, Py_None).release();
  return runLaunch(launcher, entry.get(), call, numbers, variables, gpu).release();
}

PyMethodDef kLaunch = {"launch", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(launch)),
                       METH_FASTCALL | METH_KEYWORDS,
                       "Launches the kernel on the grid this was bound to; returns the compiled kernel."};

/// Launcher.bind(grid): the callable that `kernel[grid]` is.
PyObject* bindGrid(PyObject* self, PyObject* grid) {
  Launcher* launcher = reinterpret_cast<LauncherObject*>(self)->launcher;
  PyRef bound = PyRef::steal(PyType_GenericAlloc(boundType, 0));
  if (!bound) return nullptr;
  auto* object = reinterpret_cast<BoundObject*>(bound.get());
  object->function = PyRef::borrow(launcher->function).release();
  object->launcher = launcher;
  object->grid = PyRef::borrow(grid).release();
  return PyCFunction_NewEx(&kLaunch, bound.get(), nullptr);
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
  PyRef ask = packageObject("launch_capability");
  PyRef number = PyRef::steal(ask ? PyObject_CallNoArgs(ask.get()) : nullptr);
  out = number ? int(PyLong_AsLong(number.get())) : 0;
  if (!number || PyErr_Occurred()) return false;
  if (out || !wantsGpu(call, variables)) return true;
  if (!readGpuPlace(gpu)) return false;
  out = gpu.capability;
  return true;
}

/// Launcher.prepare(args, kwargs): compiles the specialization without launching; arrays may be dtypes' stand-ins.
PyObject* prepare(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywordNames) {
  Launcher& launcher = *reinterpret_cast<LauncherObject*>(self)->launcher;
  Call call;
  if (!bindArguments(launcher.name, launcher.parameters, args, count, keywordNames, call) ||
      !classify(launcher.name, launcher.parameters, launcher.constants.get(), call))
    return nullptr;
  environment::LaunchVariables variables;
  if (!readVariables(launcher, variables)) return nullptr;
  int capability = 0;
  if (!capabilityForWarmup(call, variables, capability)) return nullptr;
  std::shared_ptr<Entry> entry = entryFor(launcher, call, variables.check, capability);
  return entry ? PyRef(entry->kernel).release() : nullptr;
}

PyObject* clearEntries(PyObject* self, PyObject*) {
  reinterpret_cast<LauncherObject*>(self)->launcher->entries.clear();
  return PyRef::borrow(Py_None).release();
}

/// Launcher.kernels(): list of the compiled kernels, for JITFunction.cache.
PyObject* kernels(PyObject* self, PyObject*) {
  PyRef list = PyRef::steal(PyList_New(0));
  for (auto& [key, entry] : reinterpret_cast<LauncherObject*>(self)->launcher->entries) {
    PyRef keyBytes = PyRef::steal(PyBytes_FromStringAndSize(key.data(), Py_ssize_t(key.size())));
    PyRef pair = PyRef::steal(keyBytes ? PyTuple_Pack(2, keyBytes.get(), entry->kernel.get()) : nullptr);
    if (!list || !pair || PyList_Append(list.get(), pair.get()) < 0) return nullptr;
  }
  return list.release();
}

/// Launcher(function, name, parameters, list of hooks). `function` must outlive the launcher.
PyObject* newLauncher(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  PyObject *function, *parameters, *hooks;
  const char* name;
  if (!PyArg_ParseTuple(args, "OsOO!:Launcher", &function, &name, &parameters, &PyList_Type, &hooks)) return nullptr;
  auto launcher = std::make_unique<Launcher>();
  launcher->function = function;
  launcher->name = name;
  launcher->preRunHooks = PyRef::borrow(hooks);
  launcher->constants = PyRef::steal(PyDict_New());
  if (!launcher->constants || !readParameters(parameters, launcher->parameters)) return nullptr;
  PyObject* self = PyType_GenericAlloc(type, 0);
  if (self) reinterpret_cast<LauncherObject*>(self)->launcher = launcher.release();
  return self;
}

void freeObject(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  PyRef::steal(reinterpret_cast<PyObject*>(type)); // instances of heap types hold their type
}
void freeLauncher(PyObject* self) {
  PyObject_GC_UnTrack(self);
  delete reinterpret_cast<LauncherObject*>(self)->launcher;
  freeObject(self);
}
// Compiled kernels refer to their JIT function, which owns the launcher: the collector must see the way round.
int traverseLauncher(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(reinterpret_cast<PyObject*>(Py_TYPE(self)));
  Launcher* launcher = reinterpret_cast<LauncherObject*>(self)->launcher;
  if (!launcher) return 0;
  Py_VISIT(launcher->constants.get());
  Py_VISIT(launcher->preRunHooks.get());
  for (const Parameter& p : launcher->parameters) Py_VISIT(p.defaultValue.get());
  for (auto& [key, entry] : launcher->entries) {
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
  if (Launcher* launcher = reinterpret_cast<LauncherObject*>(self)->launcher) {
    auto entries = std::move(launcher->entries);
    launcher->entries.clear();
    launcher->constants = PyRef::steal(PyDict_New());
  }
  return 0;
}
void freeBound(PyObject* self) {
  auto* bound = reinterpret_cast<BoundObject*>(self);
  PyRef function = PyRef::steal(bound->function), grid = PyRef::steal(bound->grid);
  freeObject(self);
}

/// launch_module(module, grid, args, names): launches a CompiledModule that no JIT function stands behind.
PyObject* launchModule(PyObject*, PyObject* args) {
  PyObject *module, *grid, *values, *names;
  if (!PyArg_ParseTuple(args, "OOO!O:launch_module", &module, &grid, &PyTuple_Type, &values, &names)) return nullptr;
  std::shared_ptr<const interp::Program> program = programOf(module);
  if (!program) return nullptr;
  Launcher plain;
  plain.name = program->name();
  plain.constants = PyRef::steal(PyDict_New());
  Call call;
  for (Py_ssize_t i = 0, n = PyTuple_Size(values); i < n; ++i) {
    Parameter p;
    p.specialize = p.specializeAlignment = false;
    PyRef name = PyRef::steal(PyList_Check(names) ? PySequence_GetItem(names, i) : nullptr);
    PyErr_Clear();
    p.nameText = name ? std::string(utf8(name.get())) : "argument " + std::to_string(i);
    plain.parameters.push_back(std::move(p));
    call.values.push_back(PyTuple_GetItem(values, i));
  }
  std::array<int32_t, 3> numbers;
  if (!classify(plain.name, plain.parameters, plain.constants.get(), call) || !readGrid(plain.name, grid, numbers))
    return nullptr;
  if (numbers[0] && numbers[1] && numbers[2] && !launchCall(plain.name, *program, call, numbers)) return nullptr;
  return PyRef::borrow(Py_None).release();
}

PyMethodDef kFunctions[] = {
    {"launch_module", launchModule, METH_VARARGS,
     "launch_module(module, grid, args, names): launches a CompiledModule on its own."},
    {nullptr, nullptr, 0, nullptr},
};
PyMethodDef kLauncherMethods[] = {
    {"bind", bindGrid, METH_O, "bind(grid): a callable that launches the kernel on `grid`."},
    {"prepare", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(prepare)), METH_FASTCALL | METH_KEYWORDS,
     "prepare(*args, **kwargs): compiles for these arguments without launching; returns the compiled kernel."},
    {"clear", clearEntries, METH_NOARGS, "Forgets every compiled specialization."},
    {"kernels", kernels, METH_NOARGS, "List of (launch key, compiled kernel)."},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot kLauncherSlots[] = {
    {Py_tp_new, reinterpret_cast<void*>(newLauncher)},
    {Py_tp_dealloc, reinterpret_cast<void*>(freeLauncher)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverseLauncher)},
    {Py_tp_clear, reinterpret_cast<void*>(clearLauncher)},
    {Py_tp_methods, kLauncherMethods},
    {Py_tp_doc, const_cast<char*>("Launcher(jit_function, name, parameters, pre_run_hooks): binds arguments, finds the "
                                  "specialization, launches.")},
    {0, nullptr},
};
PyType_Spec kLauncherSpec = {"tiletwin._C.Launcher", sizeof(LauncherObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                             kLauncherSlots};
PyType_Slot kBoundSlots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(freeBound)}, {0, nullptr}};
PyType_Spec kBoundSpec = {"tiletwin._C.BoundLaunch", sizeof(BoundObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, kBoundSlots};

} // namespace

int addLauncher(PyObject* module) {
  launcherType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&kLauncherSpec));
  boundType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&kBoundSpec));
  if (!launcherType || !boundType) return -1;
  if (PyModule_AddFunctions(module, kFunctions) < 0) return -1;
  return PyModule_AddType(module, launcherType);
}

} // namespace tiletwin::python
