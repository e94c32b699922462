// python/src/LaunchRoutes.cpp -- see LaunchRoutes.h.
#include "LaunchRoutes.h"
#include "Compile.h"
#include "EagerRun.h"
#include "EagerSession.h"
#include "Knobs.h"
#include "ProgramLaunch.h"
#include "frontend/PackageObject.h"
#include "frontend/PyValues.h"
#include "frontend/Tracing.h"
#include "interp/program/Plan.h"

namespace tiletwin::python {
namespace {

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
  PyRef tool = call(getTool, debuggerId);
  return tool && tool.get() != Py_None;
}

/// TILETWIN_EAGER, TILETWIN_PROGRAM or a debugger ask for more than a compiled launch; Python decides
/// (launch/eager_launch.py).
bool mayBeEager(const environment::LaunchVariables& variables) {
  if (variables.mayBeEager) return true;
  static PyObject* gettrace = PySys_GetObject("gettrace");
  PyRef trace = PyRef::steal(gettrace ? PyObject_CallNoArgs(gettrace) : nullptr);
  if (!trace || trace.get() != Py_None) return bool(trace);
  return isMonitored();
}

/// The run-time arguments as Python sees them: an int (of a pointer its address) or a float each.
PyRef leafValue(const Leaf& leaf) {
  const uint64_t bits = leaf.bits | descriptorFacts(leaf);
  if (leaf.kind == Leaf::Kind::Real) return toPython(leaf.number);
  return leaf.kind != Leaf::Kind::Integer || leaf.tooWide ? toPython(bits) : toPython(int64_t(bits));
}

/// Runs a compiled kernel's GPU code on the simulator (launch/sim_launch.py). Null with an error set.
PyRef launchOnSimulator(const Entry& entry, const Call& bound, const std::array<int32_t, 3>& grid) {
  PyRef buffers = pyList(bound.buffers, [](const Buffer& buffer) { // each storage
    return pyTuple(buffer.name, buffer.begin, buffer.end, buffer.readOnly);
  });
  return call(packageObject("launch_on_simulator"), entry.kernel, grid, pyList(bound.leaves, leafValue), buffers);
}

/// Runs the launch in CPython, as far as Python says so; with `one` only the program of that id. Returns the compiled
/// kernel or a stand-in; null with an error set.
PyRef launchEagerly(const Launcher& launcher, const Call& call, const std::array<int32_t, 3>& grid,
                    const std::array<int32_t, 3>* one = nullptr) {
  PyRef run;
  {
    frontend::TracingPause pause;
    PyRef session = makeEagerSession(launcher.name, launcher.parameters, call, grid);
    if (session && one) session = pyTuple(session, *one);
    const char* route = one ? "launch_one_program" : "launch_eagerly";
    if (session) run = delegateLaunch(launcher, route, call, grid, session.get());
  }
  return run ? finishEagerRun(run.get()) : PyRef();
}

/// Runs a bound launch, eagerly or compiled. Returns the compiled kernel or a stand-in; null with an error set.
PyRef runUnwatched(const Launcher& launcher, Entry* entry, const Call& call, const std::array<int32_t, 3>& grid,
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
    if (!tiletwin::call(packageObject("notice_all_eager"), launcher.function)) return {};
    return launchEagerly(launcher, call, grid);
  }
  auto runEagerly = [&](const std::array<int32_t, 3>& id) { return launchEagerly(launcher, call, grid, &id); };
  return launchCall(launcher.name, *program, call, grid, {}, runEagerly) ? kernel : PyRef();
}

/// The same with the user's hooks before and after it.
PyRef runWatched(const Launcher& launcher, Entry* entry, const Call& call, const std::array<int32_t, 3>& grid,
                 const environment::LaunchVariables& variables, const GpuPlace& gpu) {
  PyRef arguments = boundArguments(launcher, call);
  PyRef numbers = toPython(grid);
  if (!arguments || !numbers) return {};
  PyRef metadata =
      enterLaunch(launcher.function, entry ? entry->kernel.get() : Py_None, arguments.get(), numbers.get());
  PyRef result = metadata ? runUnwatched(launcher, entry, call, grid, variables, gpu) : PyRef();
  return result && leaveLaunch(metadata.get()) ? result : PyRef();
}

} // namespace

int wantsEager(Launcher& launcher, const environment::LaunchVariables& variables) {
  if (launcher.needsEager == Launcher::Unknown) {
    frontend::TracingPause pause;
    PyRef reason = call(packageObject("static_reason"), launcher.function);
    if (!reason) return -1;
    launcher.needsEager = reason.get() == Py_None ? Launcher::No : Launcher::Yes;
  }
  if (launcher.needsEager == Launcher::No && !mayBeEager(variables)) return 0;
  frontend::TracingPause pause;
  PyRef wants = call(packageObject("wants_eager"), launcher.function);
  return wants ? PyObject_IsTrue(wants.get()) : -1;
}

PyRef delegateLaunch(const Launcher& launcher, const char* route, const Call& call, const std::array<int32_t, 3>& grid,
                     PyObject* session) {
  PyRef options = pyDict();
  for (auto [name, value] : call.options)
    if (!options || PyDict_SetItem(options.get(), name, value) < 0) return {};
  return tiletwin::call(packageObject(route), launcher.function, boundArguments(launcher, call), options, grid,
                        session);
}

PyRef runLaunch(const Launcher& launcher, Entry* entry, const Call& call, const std::array<int32_t, 3>& grid,
                const environment::LaunchVariables& variables, const GpuPlace& gpu) {
  auto run = launchesAreWatched() ? runWatched : runUnwatched;
  return run(launcher, entry, call, grid, variables, gpu);
}

} // namespace tiletwin::python
