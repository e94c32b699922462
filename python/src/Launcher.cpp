// python/src/Launcher.cpp -- see Launcher.h.
#include "Launcher.h"
#include "Binding.h"
#include "CheckReport.h"
#include "Compile.h"
#include "EagerRun.h"
#include "EagerSession.h"
#include "GpuLaunch.h"
#include "Grid.h"
#include "Interned.h"
#include "Knobs.h"
#include "LaunchHooks.h"
#include "RaiseTrap.h"
#include "frontend/Tracing.h"
#include "interp/plan/Plan.h"
#include "runtime/Environment.h"
#include <deque>
#include <span>
#include <unordered_map>

namespace tiletwin::python {
namespace {

/// A global the kernel used while it was compiled: launches check that it is still the same object.
struct UsedGlobal {
  PyRef dict, name, value;
};

/// A compiled specialization.
struct Entry {
  PyRef kernel;                                   ///< compiler.CompiledKernel
  std::shared_ptr<const interp::Program> program; ///< null until first launched
  std::string numerics, gdb, check;               ///< TILETWIN_NUMERICS, _GDB and _CHECK it was planned for
  std::vector<GpuKernel> onGpu;                   ///< by number of the GPU
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

/// Whether a debugger works through sys.monitoring (Python 3.12 and later).
bool isMonitored() {
  static PyObject* const getTool = [] {
    PyObject* monitoring = PySys_GetObject("monitoring");
    PyObject* function = monitoring ? PyObject_GetAttrString(monitoring, "get_tool") : nullptr;
    PyErr_Clear();
    return function;
  }();
  if (!getTool) return false;
  static PyObject* const debuggerId = PyLong_FromLong(0); // sys.monitoring.DEBUGGER_ID
  PyRef tool = PyRef::steal(PyObject_CallFunctionObjArgs(getTool, debuggerId, nullptr));
  return tool && tool.get() != Py_None;
}

/// TILETWIN_EAGER, TILETWIN_PROGRAM or a debugger ask for more than a compiled launch; Python decides
/// (runtime/eager_launch.py).
bool mayBeEager(const environment::LaunchVariables& variables) {
  if (variables.mayBeEager) return true;
  static PyObject* gettrace = PySys_GetObject("gettrace");
  PyRef trace = PyRef::steal(gettrace ? PyObject_CallNoArgs(gettrace) : nullptr);
  if (!trace || trace.get() != Py_None) return bool(trace);
  return isMonitored();
}

PyRef boundArguments(const Launcher& launcher, const Call& call) {
  PyRef dict = PyRef::steal(PyDict_New());
  for (size_t i = 0; dict && i < call.values.size(); ++i)
    if (PyDict_SetItem(dict.get(), launcher.parameters[i].name.get(), call.values[i]) < 0) return {};
  return dict;
}

/// Compiles the specialization of a call through JITFunction._compile, for a GPU's capability (0: for the interpreter). Null
/// with an exception set. The entry's kernel is
/// None if a hook prevented compilation.
std::shared_ptr<Entry> compileEntry(Launcher& launcher, const Call& call, int capability) {
  Specialization spec;
  if (!specialize(launcher.parameters, call, spec)) return nullptr;
  auto entry = std::make_shared<Entry>();
  PyRef target = PyRef::steal(PyLong_FromLong(capability));
  if (!target) return nullptr;
  entry->kernel = PyRef::steal(PyObject_CallMethodObjArgs(launcher.function, names::compile(), spec.signature.get(),
                                                          spec.constexprs.get(), spec.attributes.get(),
                                                          spec.options.get(), target.get(), nullptr));
  if (!entry->kernel) return nullptr;
  if (entry->kernel.get() == Py_None) return entry;
  PyRef globals = PyRef::steal(PyObject_GetAttr(entry->kernel.get(), names::usedGlobals()));
  PyRef list = PyRef::steal(globals ? PySequence_Tuple(globals.get()) : nullptr);
  if (!list) return nullptr;
  for (Py_ssize_t i = 0, n = PyTuple_Size(list.get()); i < n; ++i) {
    PyObject *dict, *name, *value;
    if (!PyArg_ParseTuple(PyTuple_GetItem(list.get(), i), "O!OO", &PyDict_Type, &dict, &name, &value)) return nullptr;
    entry->globals.push_back({PyRef::borrow(dict), PyRef::borrow(name), PyRef::borrow(value)});
  }
  for (PyObject* value : call.values)
    entry->keepAlive.push_back(PyRef::borrow(reinterpret_cast<PyObject*>(Py_TYPE(value))));
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

/// `check`: TILETWIN_CHECK, which changes what the front end emits. `capability`: of the GPU that the launch runs on, or 0.
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
  if (entry && entry->kernel.get() != Py_None) launcher.entries[std::move(key)] = entry;
  return entry;
}

bool ensureProgram(Entry& entry, const environment::LaunchVariables& variables) {
  if (entry.program && entry.numerics == variables.numerics && entry.gdb == variables.gdb &&
      entry.check == variables.check)
    return true;
  if (!entry.program && !PyRef::steal(PyObject_CallMethodObjArgs(entry.kernel.get(), names::load(), nullptr)))
    return false; // the user's hooks around loading
  PyRef module = PyRef::steal(PyObject_GetAttr(entry.kernel.get(), names::module()));
  entry.program = module ? programOf(module.get()) : nullptr;
  entry.numerics = variables.numerics;
  entry.gdb = variables.gdb;
  entry.check = variables.check;
  return bool(entry.program);
}

bool collectArguments(const std::string& name, const interp::Program& program, const Call& call,
                      std::vector<uint64_t>& bits, std::vector<int32_t>& bufferOf) {
  auto types = program.argumentTypes();
  if (types.size() != call.leaves.size()) {
    PyErr_Format(PyExc_SystemError, "%s: the compiled kernel takes %zu arguments and the launch has %zu", name.c_str(),
                 types.size(), call.leaves.size());
    return false;
  }
  bits.resize(types.size());
  bufferOf.resize(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    if (!argumentBits(call.leaves[i], types[i], bits[i])) return false;
    bits[i] |= descriptorFacts(call.leaves[i]);
    bufferOf[i] = call.leaves[i].buffer;
  }
  return true;
}

/// Runs a program. False with an exception set.
bool runProgram(const std::string& name, const interp::Program& program, interp::LaunchParams params,
                const EagerProgram& runEagerly) {
  LaunchHooks hooks(name);
  hooks.printing.grid = params.grid;
  hooks.printing.buffers = params.buffers;
  if (runEagerly && program.plan().breaks) {
    hooks.printing.runEagerly = runEagerly;
    params.startsAgain = true;
  }
  interp::Hooks callbacks = hooks.hooks();
  FindingCollector findings;
  if (program.plan().hasProbes) params.findings = &findings;
  Trap trap;
  std::string fault;
  bool badEnvironment = false;
  PyThreadState* state = PyEval_SaveThread();
  try {
    trap = interp::launch(program, params, callbacks);
  } catch (const environment::Error& error) {
    fault = error.what();
    badEnvironment = true;
  } catch (const std::exception& error) { fault = error.what(); }
  PyEval_RestoreThread(state);
  hooks.finish();
  if (PyErr_Occurred()) return false; // a signal handler raised
  if (!fault.empty()) {
    PyErr_Format(badEnvironment ? PyExc_ValueError : PyExc_RuntimeError, "%s: %s", name.c_str(), fault.c_str());
    return false;
  }
  if (params.findings && !reportFindings(name, findings.take(), /*raises=*/!trap)) return false;
  if (trap) {
    raiseTrap(trap);
    return false;
  }
  return true;
}

} // namespace

bool launchCall(const std::string& name, const interp::Program& program, const Call& call,
                const std::array<int32_t, 3>& grid, std::span<const int64_t> onlyPrograms,
                const EagerProgram& runEagerly) {
  std::vector<uint64_t> bits;
  std::vector<int32_t> bufferOf;
  if (!collectArguments(name, program, call, bits, bufferOf)) return false;
  interp::LaunchParams params;
  params.grid = grid;
  params.arguments = bits;
  params.buffers = call.buffers;
  params.bufferOf = bufferOf;
  params.onlyPrograms = onlyPrograms;
  return runProgram(name, program, params, runEagerly);
}

namespace {

/// What `kernel[grid]` needs of its launcher besides the call itself.
PyRef gridValue(const Launcher& launcher, PyObject* grid, const Call& call) {
  if (!PyCallable_Check(grid)) return PyRef::borrow(grid);
  PyRef meta = boundArguments(launcher, call);
  return PyRef::steal(meta ? PyObject_CallFunctionObjArgs(grid, meta.get(), nullptr) : nullptr);
}

/// Hands the launch to Python: arrays on a device, or eager mode, whose run is then still to be finished.
PyRef delegate(const Launcher& launcher, const char* module, const Call& call, const std::array<int32_t, 3>& grid,
               PyObject* session) {
  PyRef function = imported(module, "launch");
  PyRef arguments = boundArguments(launcher, call);
  PyRef options = PyRef::steal(PyDict_New());
  if (!function || !arguments || !options) return {};
  for (auto [name, value] : call.options)
    if (PyDict_SetItem(options.get(), name, value) < 0) return {};
  return PyRef::steal(PyObject_CallFunction(function.get(), "OOO(iii)O", launcher.function, arguments.get(),
                                            options.get(), grid[0], grid[1], grid[2], session));
}

/// The run-time arguments as Python sees them: an int (of a pointer its address) or a float each.
PyRef leafValues(const Call& call) {
  PyRef list = PyRef::steal(PyList_New(0));
  for (const Leaf& leaf : call.leaves) {
    const uint64_t bits = leaf.bits | descriptorFacts(leaf);
    PyRef value = PyRef::steal(leaf.kind == Leaf::Kind::Real      ? PyFloat_FromDouble(leaf.number)
                               : leaf.kind != Leaf::Kind::Integer ? PyLong_FromUnsignedLongLong(bits)
                               : leaf.tooWide                     ? PyLong_FromUnsignedLongLong(bits)
                                                                  : PyLong_FromLongLong(int64_t(bits)));
    if (!list || !value || PyList_Append(list.get(), value.get()) < 0) return {};
  }
  return list;
}

/// The memory of the arguments: (name, first byte, one past the last, read only) of each storage.
PyRef bufferList(const Call& call) {
  PyRef list = PyRef::steal(PyList_New(0));
  for (const Buffer& buffer : call.buffers) {
    PyRef row = PyRef::steal(Py_BuildValue("(sKKO)", buffer.name.c_str(), (unsigned long long)(buffer.begin),
                                           (unsigned long long)(buffer.end), buffer.readOnly ? Py_True : Py_False));
    if (!list || !row || PyList_Append(list.get(), row.get()) < 0) return {};
  }
  return list;
}

/// Runs a compiled kernel's GPU code on the simulator (runtime/sim_launch.py). Null with an error set.
PyRef launchOnSimulator(const Entry& entry, const Call& call, const std::array<int32_t, 3>& grid) {
  PyRef function = imported("tiletwin.runtime.sim_launch", "launch");
  PyRef values = leafValues(call), buffers = bufferList(call);
  if (!function || !values || !buffers) return {};
  return PyRef::steal(PyObject_CallFunction(function.get(), "O(iii)OO", entry.kernel.get(), grid[0], grid[1], grid[2],
                                            values.get(), buffers.get()));
}

/// Runs the launch in CPython, as far as Python says so. Returns the compiled kernel or a stand-in; null with an error
/// set.
PyRef launchEagerly(const Launcher& launcher, const Call& call, const std::array<int32_t, 3>& grid) {
  PyRef run;
  {
    frontend::TracingPause pause;
    PyRef session = makeEagerSession(launcher.name, launcher.parameters, call, grid);
    if (session) run = delegate(launcher, "tiletwin.runtime.eager_launch", call, grid, session.get());
  }
  return run ? finishEagerRun(run.get()) : PyRef();
}

/// Whether Python wants this launch to be eager. -1 with an error set.
int wantsEager(Launcher& launcher, const environment::LaunchVariables& variables) {
  if (launcher.needsEager == Launcher::Unknown) {
    frontend::TracingPause pause;
    PyRef reason = imported("tiletwin.runtime.eager_launch", "static_reason");
    reason = PyRef::steal(reason ? PyObject_CallFunctionObjArgs(reason.get(), launcher.function, nullptr) : nullptr);
    if (!reason) return -1;
    launcher.needsEager = reason.get() == Py_None ? Launcher::No : Launcher::Yes;
  }
  if (launcher.needsEager == Launcher::No && !mayBeEager(variables)) return 0;
  frontend::TracingPause pause;
  PyRef wants = imported("tiletwin.runtime.eager_launch", "wants_eager");
  wants = PyRef::steal(wants ? PyObject_CallFunctionObjArgs(wants.get(), launcher.function, nullptr) : nullptr);
  return wants ? PyObject_IsTrue(wants.get()) : -1;
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

/// Runs a bound launch, eagerly or compiled. Returns the compiled kernel or a stand-in; null with an error set.
PyRef runLaunch(const Launcher& launcher, Entry* entry, const Call& call, const std::array<int32_t, 3>& grid,
                const environment::LaunchVariables& variables, const GpuPlace& gpu) {
  if (!entry) return launchEagerly(launcher, call, grid);
  PyRef kernel = entry->kernel;
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0) return kernel;
  if (gpu.device >= 0)
    return launchOnGpu(launcher.name, kernel.get(), entry->onGpu, call, grid, gpu.device) ? kernel : PyRef();
  if (variables.backend == "sim") return launchOnSimulator(*entry, call, grid);
  if (!ensureProgram(*entry, variables)) return {};
  std::shared_ptr<const interp::Program> program = entry->program;
  const interp::Plan& plan = program->plan();
  if (!plan.breaks) return launchCall(launcher.name, *program, call, grid) ? kernel : PyRef();
  // Programs that reach a breakpoint_if. While one stands in a debugger, others that wait for it could not go on.
  if (plan.mayWait) {
    PyRef notice = imported("tiletwin.debug", "notice_all_eager");
    if (!notice || !PyRef::steal(PyObject_CallFunctionObjArgs(notice.get(), launcher.function, nullptr))) return {};
    return launchEagerly(launcher, call, grid);
  }
  auto runEagerly = [&](const std::array<int32_t, 3>& id) -> PyRef {
    PyRef run;
    {
      frontend::TracingPause pause;
      PyRef session = makeEagerSession(launcher.name, launcher.parameters, call, grid);
      PyRef one = PyRef::steal(session ? Py_BuildValue("O(iii)", session.get(), id[0], id[1], id[2]) : nullptr);
      if (one) run = delegate(launcher, "tiletwin.runtime.one_program", call, grid, one.get());
    }
    return run ? finishEagerRun(run.get()) : PyRef();
  };
  return launchCall(launcher.name, *program, call, grid, {}, runEagerly) ? kernel : PyRef();
}

/// The same with the user's hooks before and after it.
PyRef runWatchedLaunch(const Launcher& launcher, Entry* entry, const Call& call, const std::array<int32_t, 3>& grid,
                       const environment::LaunchVariables& variables, const GpuPlace& gpu) {
  PyRef arguments = boundArguments(launcher, call);
  PyRef numbers = PyRef::steal(Py_BuildValue("(iii)", grid[0], grid[1], grid[2]));
  if (!arguments || !numbers) return {};
  PyRef metadata =
      enterLaunch(launcher.function, entry ? entry->kernel.get() : Py_None, arguments.get(), numbers.get());
  PyRef result = metadata ? runLaunch(launcher, entry, call, grid, variables, gpu) : PyRef();
  return result && leaveLaunch(metadata.get()) ? result : PyRef();
}

/// From the first launch with TILETWIN_CHECK on it is known what torch.empty makes, even if the variable was set late.
bool watchFreshMemory() {
  static bool watched = false;
  if (watched) return true;
  PyRef watch = imported("tiletwin.fresh_memory", "watch");
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

PyObject* launch(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywordNames) {
  auto* bound = reinterpret_cast<BoundObject*>(self);
  Launcher& launcher = *bound->launcher;
  Call call;
  environment::LaunchVariables variables;
  if (!readVariables(launcher, variables)) return nullptr;
  if (!variables.check.empty() && !watchFreshMemory()) return nullptr;
  keepViewShapes(!variables.check.empty());
  if (!bindArguments(launcher.name, launcher.parameters, args, count, keywordNames, call) ||
      !classify(launcher.name, launcher.parameters, launcher.constants.get(), call) || !callPreRunHooks(launcher, call))
    return nullptr;
  int eager = wantsEager(launcher, variables);
  if (eager < 0) return nullptr;
  GpuPlace gpu;
  const bool onGpu = !eager && !variables.interprets && (call.onDevice || variables.backend == "cuda");
  if (onGpu && !readGpuPlace(gpu)) return nullptr;
  std::shared_ptr<Entry> entry = eager ? nullptr : entryFor(launcher, call, variables.check, gpu.capability);
  if (!eager && !entry) return nullptr;
  if (entry && entry->kernel.get() == Py_None) return PyRef(entry->kernel).release();
  PyRef grid = gridValue(launcher, bound->grid, call);
  std::array<int32_t, 3> numbers;
  if (!grid || !readGrid(launcher.name, grid.get(), numbers)) return nullptr;
  bool isEmpty = numbers[0] == 0 || numbers[1] == 0 || numbers[2] == 0;
  if (call.onDevice && !isEmpty && (variables.interprets || !entry))
    return delegate(launcher, "tiletwin.runtime.device_copy", call, numbers, Py_None).release();
  auto run = launchesAreWatched() ? runWatchedLaunch : runLaunch;
  return run(launcher, entry.get(), call, numbers, variables, gpu).release();
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

/// What dtypes' stand-ins are compiled for: 0 where launches are interpreted. False with an exception set.
bool capabilityForWarmup(int& out) {
  PyRef ask = imported("tiletwin.runtime.driver", "launch_capability");
  PyRef number = PyRef::steal(ask ? PyObject_CallNoArgs(ask.get()) : nullptr);
  out = number ? int(PyLong_AsLong(number.get())) : 0;
  return number && !PyErr_Occurred();
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
  if (!variables.interprets && (call.onDevice || call.buffers.empty()) && !capabilityForWarmup(capability))
    return nullptr;
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
