// python/src/Compile.cpp -- see Compile.h.
#include "Compile.h"
#include "CheckReport.h"
#include "Context.h"
#include "DeviceNeeds.h"
#include "Interned.h"
#include "RemovedCode.h"
#include "frontend/Frontend.h"
#include "interp/program/Plan.h"
#include "ir/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "runtime/Environment.h"
#include <map>
#include <new>
#include <optional>

namespace tiletwin::python {
namespace {

using Module = mlir::OwningOpRef<mlir::ModuleOp>;

/// What the module for a native debugger is made from, when one is asked for. Without a function: TTIR was read.
struct DebugSource {
  PyRef function, signature, constexprs, attributes;
  frontend::SemanticOptions options;
  std::string name;
};

/// What a CompiledModule object owns. `source` is the front end's output, `ttir` the same after the passes.
struct Compiled {
  Module source, ttir;
  std::string entry;
  DebugSource debugSource;
  Module debug;                                                        ///< null until TILETWIN_GDB asks for it
  std::vector<frontend::ProbeRecipe> probes;                           ///< calls of print_if and breakpoint_if
  std::map<uint64_t, std::shared_ptr<const interp::Program>> programs; ///< by interp::Numerics and checks
};

struct CompiledObject {
  PyObject_HEAD Compiled* compiled;
};

PyTypeObject* compiledType = nullptr;

std::string entryOf(mlir::ModuleOp module) {
  for (mlir::Operation& op : module.getBody()->getOperations())
    if (auto function = mlir::dyn_cast<mlir::FunctionOpInterface>(op);
        function && mlir::SymbolTable::getSymbolVisibility(&op) == mlir::SymbolTable::Visibility::Public)
      return function.getName().str();
  return {};
}

PyRef makeCompiled(Compiled&& compiled) {
  PyRef object = PyRef::steal(PyType_GenericAlloc(compiledType, 0));
  if (object) reinterpret_cast<CompiledObject*>(object.get())->compiled = new Compiled(std::move(compiled));
  return object;
}

/// Runs the TTIR passes on a copy of compiled.source. False with an exception set.
bool makeTtirOf(Compiled& compiled, const std::string& name) {
  DiagnosticCapture capture(sharedContext());
  compiled.ttir = compiled.source->clone();
  if (mlir::succeeded(tt::makeTtir(*compiled.ttir))) return warnOfRemovedCode(*compiled.source, *compiled.ttir);
  capture.raise("making TTIR of kernel '" + name + "'");
  return false;
}

/// Makes compiled.debug. False with an exception set.
bool makeDebugModule(Compiled& compiled) {
  const DebugSource& from = compiled.debugSource;
  std::vector<frontend::ProbeRecipe> probes; // the same once more
  frontend::Request request{from.function.get(),   from.signature.get(), from.constexprs.get(),
                            from.attributes.get(), from.options,         from.name};
  request.options.notes = true;
  request.probes = &probes;
  DiagnosticCapture capture(sharedContext());
  Module made = frontend::buildModule(sharedContext(), request);
  if (made && mlir::succeeded(tt::makeDebugTtir(*made))) {
    compiled.debug = std::move(made);
    return true;
  }
  capture.raise("compiling kernel '" + compiled.entry + "' for gdb");
  return false;
}

PyObject* compile(PyObject*, PyObject* args) {
  PyObject *function, *signature, *constexprs, *attributes, *options;
  const char* kernelName = "";
  if (!PyArg_ParseTuple(args, "OO!O!O!O!|s:compile", &function, &PyDict_Type, &signature, &PyDict_Type, &constexprs,
                        &PyDict_Type, &attributes, &PyDict_Type, &options, &kernelName))
    return nullptr;
  frontend::Request request{function, signature, constexprs, attributes, {}, kernelName};
  CheckSet checks;
  if (!readSemanticOptions(options, request.options) || !readChecks(checks)) return nullptr;
  request.options.checked = checks.has(Check::Overflow) || checks.has(Check::Promises);
  PyRef name = PyRef::steal(PyObject_GetAttrString(function, "__name__"));
  PyErr_Clear();
  Compiled compiled;
  request.probes = &compiled.probes;
  {
    DiagnosticCapture capture(sharedContext());
    compiled.source = frontend::buildModule(sharedContext(), request);
    if (!compiled.source) {
      capture.raise("compiling kernel '" + std::string(utf8(name.get())) + "'");
      return nullptr;
    }
  }
  if (!makeTtirOf(compiled, std::string(utf8(name.get())))) return nullptr;
  compiled.entry = entryOf(*compiled.ttir);
  compiled.debugSource = {PyRef::borrow(function),   PyRef::borrow(signature), PyRef::borrow(constexprs),
                          PyRef::borrow(attributes), request.options,          kernelName};
  return makeCompiled(std::move(compiled)).release();
}

PyObject* parseTtir(PyObject*, PyObject* args) {
  const char *text, *file;
  Py_ssize_t size;
  if (!PyArg_ParseTuple(args, "s#s:parse_ttir", &text, &size, &file)) return nullptr;
  Compiled compiled;
  {
    DiagnosticCapture capture(sharedContext());
    compiled.source = tt::parseTtir(llvm::StringRef(text, size_t(size)), file, sharedContext());
    if (!compiled.source) {
      capture.raise(std::string("reading ") + file);
      return nullptr;
    }
  }
  compiled.entry = entryOf(*compiled.source);
  if (compiled.entry.empty()) {
    PyErr_Format(PyExc_ValueError, "%s holds no public tt.func: there is no kernel to run in it", file);
    return nullptr;
  }
  if (!makeTtirOf(compiled, compiled.entry)) return nullptr;
  return makeCompiled(std::move(compiled)).release();
}

Compiled& compiledOf(PyObject* self) { return *reinterpret_cast<CompiledObject*>(self)->compiled; }

void deallocate(PyObject* self) {
  PyObject_GC_UnTrack(self);
  PyTypeObject* type = Py_TYPE(self);
  delete reinterpret_cast<CompiledObject*>(self)->compiled;
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  PyRef::steal(reinterpret_cast<PyObject*>(type)); // instances of heap types hold their type
}

// The JIT function owns what owns this object, and is kept for a module with notes: the collector must see the way round.
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(reinterpret_cast<PyObject*>(Py_TYPE(self)));
  const Compiled* compiled = reinterpret_cast<CompiledObject*>(self)->compiled;
  if (!compiled) return 0;
  const DebugSource& from = compiled->debugSource;
  for (const PyRef* kept : {&from.function, &from.signature, &from.constexprs, &from.attributes}) Py_VISIT(kept->get());
  for (const frontend::ProbeRecipe& probe : compiled->probes)
    for (const PyRef* kept : {&probe.view, &probe.keywords}) Py_VISIT(kept->get());
  return 0;
}

int clear(PyObject* self) {
  if (Compiled* compiled = reinterpret_cast<CompiledObject*>(self)->compiled) compiled->debugSource = {};
  return 0;
}

PyObject* textOf(PyObject* self, PyObject* args) {
  const char* stage;
  int locations = 1;
  if (!PyArg_ParseTuple(args, "s|p:text", &stage, &locations)) return nullptr;
  Compiled& compiled = compiledOf(self);
  std::string_view wanted = stage;
  std::string out;
  if (wanted == "source") {
    out = tt::printTtir(*compiled.source, locations);
  } else if (wanted == "ttir") {
    out = tt::printTtir(*compiled.ttir, locations);
  } else if (wanted == "plan") {
    auto program = programOf(self, /*forms=*/true);
    if (!program) return nullptr;
    out = program->dump();
  } else {
    PyErr_SetObject(PyExc_KeyError, PyTuple_GetItem(args, 0));
    return nullptr;
  }
  return PyUnicode_FromStringAndSize(out.data(), Py_ssize_t(out.size()));
}

PyObject* planned(PyObject* self, PyObject*) {
  auto program = programOf(self);
  if (!program) return nullptr;
  PyRef types = PyRef::steal(PyList_New(0));
  for (DType type : program->argumentTypes()) {
    PyRef name = PyRef::steal(PyUnicode_FromString(nameOf(type)));
    if (!types || !name || PyList_Append(types.get(), name.get()) < 0) return nullptr;
  }
  return Py_BuildValue("{s:N,s:n,s:O}", "argument_types", types.release(), "frame_bytes",
                       Py_ssize_t(program->frameBytes()), "may_wait", program->plan().mayWait ? Py_True : Py_False);
}

PyObject* deviceNeedsOf(PyObject* self, PyObject* args) {
  return deviceNeeds(*compiledOf(self).ttir, compiledOf(self).entry, args);
}

PyObject* getEntry(PyObject* self, void*) { return PyUnicode_FromString(compiledOf(self).entry.c_str()); }

PyMethodDef kMethods[] = {
    {"text", textOf, METH_VARARGS,
     "text(stage, locations=True): the module as text; stage is 'source', 'ttir' or 'plan'."},
    {"plan", planned, METH_NOARGS,
     "Plans the kernel now (launches do it when first needed); returns facts about the plan."},
    {"device_needs", deviceNeedsOf, METH_VARARGS,
     "device_needs(capability, num_warps, num_stages): shared memory at the least, and the element types used."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef kAttributes[] = {
    {"entry", getEntry, nullptr, "Name of the kernel in the module.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyType_Slot kSlots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_methods, kMethods},
    {Py_tp_getset, kAttributes},
    {Py_tp_doc, const_cast<char*>("A kernel as IR, and its plan once it has run.")},
    {0, nullptr},
};
PyType_Spec kSpec = {"tiletwin._C.CompiledModule", sizeof(CompiledObject), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, kSlots};

PyMethodDef kFunctions[] = {
    {"compile", compile, METH_VARARGS,
     "compile(jit_function, signature, constexprs, attributes, options, name=\"\") -> CompiledModule"},
    {"parse_ttir", parseTtir, METH_VARARGS, "parse_ttir(text, file) -> CompiledModule"},
    {nullptr, nullptr, 0, nullptr},
};

} // namespace

bool readSemanticOptions(PyObject* dict, frontend::SemanticOptions& out) {
  auto get = [&](const char* key) { return PyDict_GetItemString(dict, key); };
  if (PyObject* debug = get("debug")) out.debug = PyObject_IsTrue(debug) == 1;
  if (PyObject* sanitize = get("sanitize_overflow")) out.sanitizeOverflow = PyObject_IsTrue(sanitize) == 1;
  if (PyObject* precision = get("default_dot_input_precision")) out.defaultDotPrecision = std::string(utf8(precision));
  auto strings = [&](const char* key, auto& list) {
    PyObject* given = get(key);
    if (!given) return;
    list.clear();
    for (Py_ssize_t i = 0, n = PySequence_Size(given); i < n; ++i) {
      PyRef item = PyRef::steal(PySequence_GetItem(given, i));
      list.push_back(std::string(utf8(item.get())));
    }
  };
  strings("allowed_dot_input_precisions", out.allowedDotPrecisions);
  strings("supported_fp8_dtypes", out.supportedFp8);
  if (PyObject* capability = get("capability")) out.capability = int(PyLong_AsLong(capability));
  if (PyObject* interpreted = get("interpreted")) out.interpreted = PyObject_IsTrue(interpreted) == 1;
  if (PyObject* numWarps = get("num_warps")) out.numWarps = int(PyLong_AsLong(numWarps));
  return !PyErr_Occurred();
}

int addCompile(PyObject* module) {
  compiledType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&kSpec));
  if (!compiledType || PyModule_AddType(module, compiledType) < 0) return -1;
  return PyModule_AddFunctions(module, kFunctions);
}

bool readPlanOptions(interp::PlanOptions& options) {
  try {
    switch (environment::numerics()) {
    case environment::Numerics::Fast: options.numerics = interp::Numerics::Fast; break;
    case environment::Numerics::Ieee: options.numerics = interp::Numerics::Ieee; break;
    case environment::Numerics::Exact:
      PyErr_SetString(PyExc_NotImplementedError, "TILETWIN_NUMERICS=exact is not available yet; use fast or ieee");
      return false;
    }
  } catch (const environment::Error& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
    return false;
  }
  return true;
}

/// TILETWIN_GDB. -1 with an exception set.
static int wantsGdb() {
  try {
    return environment::gdb();
  } catch (const environment::Error& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
    return -1;
  }
}

std::shared_ptr<const interp::Program> programOf(PyObject* object, bool forms) {
  if (Py_TYPE(object) != compiledType) {
    PyErr_Format(PyExc_TypeError, "a CompiledModule is needed, not a %s", typeName(object).c_str());
    return nullptr;
  }
  interp::PlanOptions options;
  if (!readPlanOptions(options)) return nullptr;
  Compiled& compiled = compiledOf(object);
  options.owner = &compiled.probes;
  options.forms = forms;
  CheckSet checks;
  if (!readChecks(checks)) return nullptr;
  const int gdb = wantsGdb();
  if (gdb < 0) return nullptr;
  options.debug = gdb && compiled.debugSource.function;
  if (options.debug && checks.codeBits() && !noticeUncheckedInGdb(compiled.entry)) return nullptr;
  options.checks = options.debug ? 0 : checks.codeBits();
  if (options.debug && !compiled.debug && !makeDebugModule(compiled)) return nullptr;
  mlir::ModuleOp module = options.debug ? *compiled.debug : *compiled.ttir;
  auto& program = compiled.programs[uint64_t(options.forms) << 41 | uint64_t(options.debug) << 40 |
                                    uint64_t(options.numerics) << 32 | options.checks];
  if (!program) {
    DiagnosticCapture capture(sharedContext());
    try {
      program = interp::planModule(module, compiled.entry, options);
    } catch (const std::exception& error) {
      PyErr_Format(PyExc_RuntimeError, "planning kernel '%s': %s", compiled.entry.c_str(), error.what());
      return nullptr;
    }
    if (!program) capture.raise("planning kernel '" + compiled.entry + "' for the interpreter");
  }
  return program;
}

} // namespace tiletwin::python
