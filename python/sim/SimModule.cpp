// python/sim/SimModule.cpp -- the extension module tiletwin._sim: the simulator as tiletwin/sim calls it.
// Here:      loading a module of PTX, what its entries want, launches, tensor maps. Plain values in and out.
// Not here:  arrays, arguments and defaults (tiletwin/sim/), the simulator (sim/Sim.h).
// Idea:      a module of its own, opened when it is first asked for: `import tiletwin` stays short, and code for AVX2 stays out
//            of the module that every machine loads.
#include "../src/CheckReport.h"
#include "../src/Gil.h"
#include "../src/RaiseTrap.h"
#include "../src/ReadEnvironment.h"
#include "../src/TensorMapNumbers.h"
#include "Callbacks.h"
#include "CountRows.h"
#include "frontend/PyFunctions.h"
#include "sim/Sim.h"
#include "sim/Tensormap.h"

namespace tiletwin::python {
namespace {

using ModuleHandle = std::shared_ptr<const sim::Module>;

/// load(text, file, contract) -> Module; ValueError(message, line, column, rendered) for text that cannot be run.
PyRef load(std::string_view text, const char* file, bool contract) {
  sim::LoadOptions options;
  options.file = file;
  options.contract = contract;
  sim::ptx::Diagnostic error;
  ModuleHandle module;
  if (!workWithoutGil(file, [&] { module = sim::Module::load(text, options, error); })) return {};
  if (module) return Object<ModuleHandle>::make(std::move(module));
  PyRef value = pyTuple(error.message, int(error.at.line), int(error.at.column), error.render(file, text));
  if (value) PyErr_SetObject(PyExc_ValueError, value.get());
  return {};
}

PyRef entries(const ModuleHandle& module) { return pyList(module->entries()); }

/// The kernel of an entry; null with KeyError set.
const sim::Kernel* kernelOf(const ModuleHandle& module, const char* entry) {
  const sim::Kernel* kernel = module->find(entry);
  if (!kernel) PyErr_SetString(PyExc_KeyError, entry);
  return kernel;
}

/// facts(entry) -> {"parameters": [(name, type, bytes, offset, is pointer, its alignment)], "parameter_bytes", "shared", ...}
PyRef facts(const ModuleHandle& module, const char* entry) {
  const sim::Kernel* kernel = kernelOf(module, entry);
  if (!kernel) return {};
  const sim::ptx::Function& f = kernel->function();
  PyRef parameters = pyList(f.parameters, [&](const sim::ptx::Variable& p) {
    return pyTuple(p.name, sim::ptx::nameOf(p.type), p.bytes, kernel->parameterOffset(size_t(&p - f.parameters.data())),
                   p.isPointer, p.pointerAlignment);
  });
  return pyDict("parameters", parameters, "parameter_bytes", kernel->parameterBytes(), "shared", kernel->staticShared(),
                "required_threads", f.requiredThreads, "max_threads", f.maxThreads, "required_cluster",
                f.requiredCluster);
}

/// [(name, begin, end, read only)] as buffers. False with an exception set.
bool readBuffers(ListArgument list, std::vector<Buffer>& buffers) {
  for (PyObject* row : itemsOf(list.get())) {
    const char* name;
    unsigned long long begin, end;
    int readOnly;
    if (!PyArg_ParseTuple(row, "sKKp", &name, &begin, &end, &readOnly)) return false;
    Buffer buffer;
    buffer.name = name;
    buffer.begin = buffer.viewBegin = uintptr_t(begin);
    buffer.end = buffer.viewEnd = uintptr_t(end);
    buffer.readOnly = readOnly != 0;
    buffers.push_back(std::move(buffer));
  }
  return true;
}

using Sizes = std::array<uint32_t, 3>;

/// -> (instructions, lane instructions, what countRows() gives if `counted`, else None). checks: words of CheckOptions. schedule: as TILETWIN_SIM_SCHEDULE has it; empty: as the
/// variable says. print: called with text. clusters: numbers of those that run; empty: all.
PyRef launch(const ModuleHandle& module, const char* entry, Sizes grid, Sizes block, Sizes cluster, uint32_t shared,
             std::span<const std::byte> parameters, ListArgument buffers, TupleArgument checks, uint32_t threads,
             uint64_t limit, std::string_view schedule, PyObject* print, bool counted, ListArgument clusters) {
  const sim::Kernel* kernel = kernelOf(module, entry);
  std::vector<Buffer> known;
  if (!kernel || !readBuffers(buffers, known)) return {};
  sim::LaunchParams params;
  params.grid = {grid[0], grid[1], grid[2]};
  params.block = {block[0], block[1], block[2]};
  params.cluster = {cluster[0], cluster[1], cluster[2]};
  params.dynamicShared = shared;
  params.parameters = parameters;
  params.buffers = known;
  params.threads = threads;
  params.instructionLimit = limit;
  std::vector<uint64_t> chosen;
  for (PyObject* number : itemsOf(clusters.get())) chosen.push_back(PyLong_AsUnsignedLongLong(number));
  if (PyErr_Occurred()) return {};
  params.clusters = chosen;
  const auto readSchedule = [&] {
    params.schedule = schedule.empty() ? sim::Schedule::ofEnvironment() : sim::Schedule::parse(schedule);
  };
  if (!readEnvironment(readSchedule)) return {};
  auto wants = [&](std::string_view word) {
    for (PyObject* wanted : itemsOf(checks.get()))
      if (utf8(wanted) == word) return true;
    return false;
  };
  params.checks = {wants("bounds"), wants("barriers"), wants("async"), wants("uninitialized"), wants("races")};
  FindingCollector findings;
  params.findings = &findings;
  Callbacks callbacks(print);
  params.print = [&](std::string_view text) { callbacks.print(text); };
  params.poll = [&] { return callbacks.mayGoOn(); };
  sim::LaunchCounts counts;
  if (counted) params.counts = &counts;
  sim::Result result;
  const bool ran = workWithoutGil(entry, [&] { result = sim::launch(*kernel, params); });
  if (callbacks.raise() || !ran || !reportFindings(entry, findings.take(), /*raises=*/!result.trap)) return {};
  if (result.trap) {
    raiseTrap(result.trap);
    return {};
  }
  return pyTuple(result.instructions, result.laneInstructions, counted ? countRows(counts, module->source()) : none());
}

/// The 128 bytes of a tensor map; ValueError says why the driver would refuse the numbers.
PyRef encodeTensorMap(PyObject* tuple) {
  TensorMapLists lists;
  if (!lists.read(tuple)) return {};
  const TensorMapNumbers& n = lists.numbers();
  alignas(64) char map[sim::kTensorMapBytes];
  std::string error;
  if (sim::encodeTensorMap(map, sim::TensorMapType(n.type), n.rank, reinterpret_cast<const void*>(n.address), n.sizes,
                           n.strides, n.box, n.steps, sim::TensorMapInterleave(n.interleave),
                           sim::TensorMapSwizzle(n.swizzle), sim::TensorMapPromotion(n.promotion),
                           sim::TensorMapFill(n.fill), error))
    return pyBytes(map, sizeof map);
  PyErr_SetString(PyExc_ValueError, error.c_str());
  return {};
}

bool execute(PyObject* module) {
  return addFunctions(module, {function<"load", load>("load(text, file, contract) -> Module"),
                               function<"encode_tensor_map", encodeTensorMap>(
                                   "encode_tensor_map(numbers) -> 128 bytes: what TensorMap.numbers gives")}) &&
         addType<ModuleHandle>(
             module,
             {.name = "tiletwin._sim.Module",
              .doc = "A module of PTX, ready to run.",
              .methods = {method<"entries", entries>("Names of the module's entries."),
                          method<"facts", facts>("facts(entry): what a launch of it wants."),
                          method<"launch", launch>("launch(entry, grid, block, cluster, shared, parameters, buffers, "
                                                   "checks, threads, limit, schedule, print, counted, clusters)")}});
}

} // namespace
} // namespace tiletwin::python

PyMODINIT_FUNC PyInit__sim() {
  return tiletwin::defineModule<tiletwin::python::execute>("_sim", "The simulator of PTX.");
}
