// python/sim/SimModule.cpp -- the extension module tiletwin._sim: the simulator as tiletwin/sim calls it.
// Here:      loading a module of PTX, what its entries want, launches. Plain values in and out.
// Not here:  arrays, arguments and defaults (tiletwin/sim/), the simulator (sim/Sim.h).
// Idea:      a module of its own, opened when it is first asked for: `import tiletwin` stays short, and code for AVX2 stays out
//            of the module that every machine loads.
#include "../src/CheckReport.h"
#include "../src/Gil.h"
#include "../src/Interned.h"
#include "../src/RaiseTrap.h"
#include "Callbacks.h"
#include "TensorMaps.h"
#include "frontend/PyRef.h"
#include "sim/Sim.h"
#include <exception>

namespace tiletwin::python {
namespace {

struct ModuleObject {
  PyObject ob_base;
  std::shared_ptr<const sim::Module>* module;
};
PyObject* moduleType = nullptr;

const sim::Module& moduleOf(PyObject* self) { return **reinterpret_cast<ModuleObject*>(self)->module; }

void deallocate(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  delete reinterpret_cast<ModuleObject*>(self)->module;
  auto* release = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  release(self);
  PyRef::steal(reinterpret_cast<PyObject*>(type)); // an object of a heap type owns its type
}

/// load(text, file, contract) -> Module; ValueError(message, line, column, rendered) for text that cannot be run.
PyObject* load(PyObject*, PyObject* args) {
  const char *text, *file;
  Py_ssize_t length;
  int contract;
  if (!PyArg_ParseTuple(args, "s#sp:load", &text, &length, &file, &contract)) return nullptr;
  sim::LoadOptions options;
  options.file = file;
  options.contract = contract != 0;
  sim::ptx::Diagnostic error;
  const std::string_view source(text, size_t(length));
  std::shared_ptr<const sim::Module> module;
  std::string fault;
  try {
    const GilReleased released;
    module = sim::Module::load(source, options, error);
  } catch (const std::exception& e) { fault = e.what(); }
  if (!fault.empty()) {
    PyErr_Format(PyExc_RuntimeError, "%s: %s", file, fault.c_str());
    return nullptr;
  }
  if (!module) {
    PyRef value = PyRef::steal(Py_BuildValue("(siis)", error.message.c_str(), int(error.at.line), int(error.at.column),
                                             error.render(file, source).c_str()));
    if (value) PyErr_SetObject(PyExc_ValueError, value.get());
    return nullptr;
  }
  auto* type = reinterpret_cast<PyTypeObject*>(moduleType);
  PyRef object = PyRef::steal(PyType_GenericAlloc(type, 0));
  if (!object) return nullptr;
  reinterpret_cast<ModuleObject*>(object.get())->module = new std::shared_ptr<const sim::Module>(std::move(module));
  return object.release();
}

PyObject* entries(PyObject* self, PyObject*) {
  PyRef list = PyRef::steal(PyList_New(0));
  for (const std::string& name : moduleOf(self).entries()) {
    PyRef word = PyRef::steal(PyUnicode_FromString(name.c_str()));
    if (!list || !word || PyList_Append(list.get(), word.get()) < 0) return nullptr;
  }
  return list.release();
}

/// The kernel of an entry; null with KeyError set.
const sim::Kernel* kernelOf(PyObject* self, const char* entry) {
  const sim::Kernel* kernel = moduleOf(self).find(entry);
  if (!kernel) PyErr_SetString(PyExc_KeyError, entry);
  return kernel;
}

/// facts(entry) -> {"parameters": [(name, type, bytes, offset, is pointer, its alignment)], "parameter_bytes", "shared", ...}
PyObject* facts(PyObject* self, PyObject* entry) {
  const sim::Kernel* kernel = kernelOf(self, std::string(utf8(entry)).c_str());
  if (!kernel) return nullptr;
  const sim::ptx::Function& f = kernel->function();
  PyRef list = PyRef::steal(PyList_New(0));
  for (size_t i = 0; list && i < f.parameters.size(); ++i) {
    const sim::ptx::Variable& p = f.parameters[i];
    const std::string type(sim::ptx::nameOf(p.type));
    PyRef row =
        PyRef::steal(Py_BuildValue("(ssKIOI)", p.name.c_str(), type.c_str(), (unsigned long long)p.bytes,
                                   kernel->parameterOffset(i), p.isPointer ? Py_True : Py_False, p.pointerAlignment));
    if (!row || PyList_Append(list.get(), row.get()) < 0) return nullptr;
  }
  auto triple = [](const std::array<int32_t, 3>& a) { return Py_BuildValue("(iii)", a[0], a[1], a[2]); };
  return list ? Py_BuildValue("{s:N,s:I,s:I,s:N,s:N,s:N}", "parameters", list.release(), "parameter_bytes",
                              kernel->parameterBytes(), "shared", kernel->staticShared(), "required_threads",
                              triple(f.requiredThreads), "max_threads", triple(f.maxThreads), "required_cluster",
                              triple(f.requiredCluster))
              : nullptr;
}

/// [(name, begin, end, read only)] as buffers. False with an exception set.
bool readBuffers(PyObject* list, std::vector<Buffer>& buffers) {
  const Py_ssize_t count = PyList_Size(list);
  for (Py_ssize_t i = 0; i < count; ++i) {
    const char* name;
    unsigned long long begin, end;
    int readOnly;
    if (!PyArg_ParseTuple(PyList_GetItem(list, i), "sKKp", &name, &begin, &end, &readOnly)) return false;
    Buffer buffer;
    buffer.name = name;
    buffer.begin = buffer.viewBegin = uintptr_t(begin);
    buffer.end = buffer.viewEnd = uintptr_t(end);
    buffer.readOnly = readOnly != 0;
    buffers.push_back(std::move(buffer));
  }
  return !PyErr_Occurred();
}

/// launch(entry, grid, block, cluster, shared, parameters, buffers, checks, threads, limit, print)
/// -> (instructions, lane instructions). checks: words of CheckOptions. print: called with text.
PyObject* launchEntry(PyObject* self, PyObject* args) {
  const char *entry, *bytes;
  Py_ssize_t size;
  unsigned g[3], b[3], c[3], shared, threads;
  unsigned long long limit;
  PyObject *buffers, *checks, *print;
  if (!PyArg_ParseTuple(args, "s(III)(III)(III)Iy#O!O!IKO:launch", &entry, &g[0], &g[1], &g[2], &b[0], &b[1], &b[2],
                        &c[0], &c[1], &c[2], &shared, &bytes, &size, &PyList_Type, &buffers, &PyTuple_Type, &checks,
                        &threads, &limit, &print))
    return nullptr;
  const sim::Kernel* kernel = kernelOf(self, entry);
  if (!kernel) return nullptr;
  std::vector<Buffer> known;
  if (!readBuffers(buffers, known)) return nullptr;
  sim::LaunchParams params;
  params.grid = {g[0], g[1], g[2]};
  params.block = {b[0], b[1], b[2]};
  params.cluster = {c[0], c[1], c[2]};
  params.dynamicShared = shared;
  params.parameters = std::as_bytes(std::span(bytes, size_t(size)));
  params.buffers = known;
  params.threads = threads;
  params.instructionLimit = limit;
  auto wants = [&](const char* word) {
    for (Py_ssize_t i = 0; i < PyTuple_Size(checks); ++i)
      if (utf8(PyTuple_GetItem(checks, i)) == word) return true;
    return false;
  };
  params.checks = {wants("bounds"), wants("barriers"), wants("async"), wants("uninitialized"), wants("races")};
  FindingCollector findings;
  params.findings = &findings;
  Callbacks callbacks(print);
  params.print = [&](std::string_view text) { callbacks.print(text); };
  params.poll = [&] { return callbacks.mayGoOn(); };
  sim::Result result;
  std::string fault;
  try {
    const GilReleased released;
    result = sim::launch(*kernel, params);
  } catch (const std::exception& error) { fault = error.what(); }
  if (callbacks.raise()) return nullptr;
  if (!fault.empty()) {
    PyErr_Format(PyExc_RuntimeError, "%s: %s", entry, fault.c_str());
    return nullptr;
  }
  if (!reportFindings(entry, findings.take(), /*raises=*/!result.trap)) return nullptr;
  if (result.trap) {
    raiseTrap(result.trap);
    return nullptr;
  }
  return Py_BuildValue("(KK)", (unsigned long long)result.instructions, (unsigned long long)result.laneInstructions);
}

PyMethodDef kMethods[] = {
    {"entries", entries, METH_NOARGS, "Names of the module's entries."},
    {"facts", facts, METH_O, "facts(entry): what a launch of it wants."},
    {"launch", launchEntry, METH_VARARGS,
     "launch(entry, grid, block, cluster, shared, parameters, buffers, checks, threads, limit, print)"},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot kTypeSlots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
    {Py_tp_methods, kMethods},
    {Py_tp_doc, const_cast<char*>("A module of PTX, ready to run.")},
    {0, nullptr},
};
PyType_Spec kType = {"tiletwin._sim.Module", sizeof(ModuleObject), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, kTypeSlots};

PyMethodDef kFunctions[] = {
    {"load", load, METH_VARARGS, "load(text, file, contract) -> Module"},
    {"encode_tensor_map", encodeTensorMap, METH_VARARGS,
     "encode_tensor_map(type, address, sizes, strides, box, element_strides, interleave, swizzle, promotion, fill)"},
    {nullptr, nullptr, 0, nullptr},
};

int executeModule(PyObject* module) {
  if (!moduleType) moduleType = PyType_FromSpec(&kType);
  return moduleType ? PyModule_AddObjectRef(module, "Module", moduleType) : -1;
}
PyModuleDef_Slot kSlots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(executeModule)},
    {0, nullptr},
};
PyModuleDef kModule = {
    PyModuleDef_HEAD_INIT, "_sim", "The simulator of PTX.", 0, kFunctions, kSlots, nullptr, nullptr, nullptr,
};

} // namespace
} // namespace tiletwin::python

PyMODINIT_FUNC PyInit__sim() { return PyModuleDef_Init(&tiletwin::python::kModule); }
