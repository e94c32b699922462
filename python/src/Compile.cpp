// python/src/Compile.cpp -- see Compile.h.
#include "Compile.h"
#include "CheckReport.h"
#include "Context.h"
#include "DeviceNeeds.h"
#include "Parts.h"
#include "ReadEnvironment.h"
#include "RemovedCode.h"
#include "frontend/Frontend.h"
#include "frontend/PyFunctions.h"
#include "interp/program/Plan.h"
#include "ir/ArgumentEffects.h"
#include "ir/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <map>
#include <optional>

namespace tiletwin::python {
namespace {

using Module = mlir::OwningOpRef<mlir::ModuleOp>;

/// What the module for a native debugger is made from. The function is null where the kernel came as TTIR.
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

std::string entryOf(mlir::ModuleOp module) {
  for (mlir::Operation& op : module.getBody()->getOperations())
    if (auto function = mlir::dyn_cast<mlir::FunctionOpInterface>(op);
        function && mlir::SymbolTable::getSymbolVisibility(&op) == mlir::SymbolTable::Visibility::Public)
      return function.getName().str();
  return {};
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

PyRef compile(PyObject* function, DictArgument signature, DictArgument constexprs, DictArgument attributes,
              DictArgument options, std::optional<std::string> kernelName) {
  frontend::Request request{function, signature.get(), constexprs.get(), attributes.get(), {}, kernelName.value_or("")};
  CheckSet checks;
  if (!readSemanticOptions(options.get(), request.options) || !readChecks(checks)) return {};
  // A debugger looks at the kernel's code on the simulator: its variables get names (codegen/passes/Notes.h).
  request.options.notes = environment::text("TILETWIN_DEBUG").has_value();
  request.options.checked = checks.has(Check::Overflow) || checks.has(Check::Promises);
  const std::string name = stringOf(attributeIfAny(function, "__name__").get());
  Compiled compiled;
  request.probes = &compiled.probes;
  {
    DiagnosticCapture capture(sharedContext());
    compiled.source = frontend::buildModule(sharedContext(), request);
    if (!compiled.source) {
      capture.raise("compiling kernel '" + name + "'");
      return {};
    }
  }
  if (!makeTtirOf(compiled, name)) return {};
  compiled.entry = entryOf(*compiled.ttir);
  compiled.debugSource = {toPython(function),         toPython(signature.get()), toPython(constexprs.get()),
                          toPython(attributes.get()), request.options,           request.name};
  return Object<Compiled>::make(std::move(compiled));
}

PyRef parseTtir(std::string_view text, const char* file) {
  Compiled compiled;
  {
    DiagnosticCapture capture(sharedContext());
    compiled.source = tt::parseTtir(text, file, sharedContext());
    if (!compiled.source) {
      capture.raise(std::string("reading ") + file);
      return {};
    }
  }
  compiled.entry = entryOf(*compiled.source);
  if (compiled.entry.empty()) {
    PyErr_Format(PyExc_ValueError, "%s holds no public tt.func: there is no kernel to run in it", file);
    return {};
  }
  if (!makeTtirOf(compiled, compiled.entry)) return {};
  return Object<Compiled>::make(std::move(compiled));
}

// The JIT function owns what owns this object, and is kept for a module with notes: the collector must see the way round.
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(typeOf(self));
  const Compiled& compiled = Object<Compiled>::of(self);
  const DebugSource& from = compiled.debugSource;
  for (const PyRef* kept : {&from.function, &from.signature, &from.constexprs, &from.attributes}) Py_VISIT(kept->get());
  for (const frontend::ProbeRecipe& probe : compiled.probes)
    for (const PyRef* kept : {&probe.view, &probe.keywords}) Py_VISIT(kept->get());
  return 0;
}

int clear(PyObject* self) {
  Object<Compiled>::of(self).debugSource = {};
  return 0;
}

std::optional<std::string> textOfStage(PyObject* self, std::string stage, std::optional<bool> locations) {
  const Compiled& compiled = Object<Compiled>::of(self);
  if (stage == "source") return tt::printTtir(*compiled.source, locations.value_or(true));
  if (stage == "ttir") return tt::printTtir(*compiled.ttir, locations.value_or(true));
  if (stage == "plan") {
    auto program = programOf(self, /*forms=*/true);
    return program ? std::optional(program->dump()) : std::nullopt;
  }
  PyErr_SetString(PyExc_KeyError, stage.c_str());
  return {};
}

PyRef planned(PyObject* self) {
  auto program = programOf(self);
  if (!program) return {};
  return pyDict("argument_types", pyList(program->argumentTypes(), [](DType type) { return nameOf(type); }),
                "frame_bytes", program->frameBytes(), "may_wait", program->plan().mayWait);
}

PyRef deviceNeedsOf(const Compiled& compiled, int capability, int numWarps, int numStages) {
  return deviceNeeds(*compiled.ttir, compiled.entry, {capability, numWarps, numStages});
}

PyRef argumentEffectsOf(const Compiled& compiled) {
  auto effects = tt::argumentEffects((*compiled.ttir).lookupSymbol<tt::FuncOp>(compiled.entry));
  if (!effects) return none();
  return pyList(*effects, [](const tt::ArgumentEffect& effect) { return pyTuple(effect.reads, effect.writes); });
}

std::string entry(const Compiled& compiled) { return compiled.entry; }

} // namespace

bool addCompile(PyObject* module) {
  return addType<Compiled>(
             module,
             {.name = "tiletwin._C.CompiledModule",
              .doc = "A kernel as IR, and its plan once it has run.",
              .methods = {method<"text", textOfStage>("text(stage, locations=True): the module as text; stage is "
                                                      "'source', 'ttir' or 'plan'."),
                          method<"plan", planned>("Plans the kernel now (launches do it when first needed); returns "
                                                  "facts about the plan."),
                          method<"device_needs", deviceNeedsOf>("device_needs(capability, num_warps, num_stages): "
                                                                "shared memory at the least, and the element types "
                                                                "used."),
                          method<"argument_effects", argumentEffectsOf>(
                              "argument_effects(): for each parameter of the TTIR whether memory that it leads to is "
                              "read, and whether it is written; None: nobody can tell.")},
              .properties = {property<"entry", entry>("Name of the kernel in the module.")},
              .slots = {slot(Py_tp_traverse, traverse), slot(Py_tp_clear, clear)},
              .flags = Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION}) &&
         addFunctions(module, {function<"compile", compile>("compile(jit_function, signature, constexprs, attributes, "
                                                            "options, name=\"\") -> CompiledModule"),
                               function<"parse_ttir", parseTtir>("parse_ttir(text, file) -> CompiledModule")});
}

bool readSemanticOptions(PyObject* dict, frontend::SemanticOptions& out) {
  auto get = [&](const char* key) { return PyDict_GetItemString(dict, key); };
  auto flag = [&](const char* key, bool& flag) {
    if (PyObject* given = get(key)) flag = PyObject_IsTrue(given) == 1;
  };
  auto number = [&](const char* key, int& number) {
    if (PyObject* given = get(key)) number = int(PyLong_AsLong(given));
  };
  auto strings = [&](const char* key, auto& list) {
    PyObject* given = get(key);
    if (!given) return;
    list.clear();
    PyRef items = PyRef::steal(PySequence_Tuple(given));
    for (PyObject* item : itemsOf(items)) list.push_back(stringOf(item));
  };
  flag("debug", out.debug);
  flag("sanitize_overflow", out.sanitizeOverflow);
  flag("interpreted", out.interpreted);
  number("capability", out.capability);
  number("num_warps", out.numWarps);
  strings("allowed_dot_input_precisions", out.allowedDotPrecisions);
  strings("supported_fp8_dtypes", out.supportedFp8);
  if (PyObject* precision = get("default_dot_input_precision")) out.defaultDotPrecision = stringOf(precision);
  return !PyErr_Occurred();
}

bool readPlanOptions(interp::PlanOptions& options) {
  environment::Numerics wanted{};
  if (!readEnvironment([&] { wanted = environment::numerics(); })) return false;
  if (wanted == environment::Numerics::Exact) {
    PyErr_SetString(PyExc_NotImplementedError, "TILETWIN_NUMERICS=exact is not available yet; use fast or ieee");
    return false;
  }
  options.numerics = wanted == environment::Numerics::Fast ? interp::Numerics::Fast : interp::Numerics::Ieee;
  return true;
}

std::shared_ptr<const interp::Program> programOf(PyObject* object, bool forms) {
  if (!Object<Compiled>::is(object)) {
    PyErr_Format(PyExc_TypeError, "a CompiledModule is needed, not a %s", qualifiedTypeName(object).c_str());
    return nullptr;
  }
  interp::PlanOptions options;
  if (!readPlanOptions(options)) return nullptr;
  Compiled& compiled = Object<Compiled>::of(object);
  options.owner = &compiled.probes;
  options.forms = forms;
  CheckSet checks;
  if (!readChecks(checks)) return nullptr;
  if (!readEnvironment([&] { options.debug = environment::gdb() && compiled.debugSource.function; })) return nullptr;
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
