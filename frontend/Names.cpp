// frontend/Names.cpp -- operator table, name lookup (rule 57), what kind of thing a callee is.
#include "frontend/PackageObject.h"
#include "frontend/Walker.h"

namespace tiletwin::frontend {

PyObject* astClass(const char* name) { return imported("ast", name).release(); }

static constexpr OperatorRow kOperators[] = {
#define TILETWIN_ROW(name, ...) {#name, AstOperator::name, __VA_ARGS__},
    TILETWIN_AST_OPERATORS(TILETWIN_ROW)
#undef TILETWIN_ROW
};

const OperatorRow* operatorRow(PyObject* node) {
  if (const OperatorRow* row = rowFor<OperatorRow>(node, kOperators)) return row;
  raiseNotImplemented("operator " + typeName(node) + " is not supported in kernels");
  return nullptr;
}

/// By class, not by attributes: computed attributes run Python code, which a debugger's `step` would enter.
static bool isJitFunction(PyObject* object) {
  static PyObject* const cls = packageObject("JITFunction").release();
  if (!cls) PyErr_Clear();
  return cls && PyObject_IsInstance(object, cls) == 1;
}

/// An Autotuner, Heuristics or other object that launches the jit function in its `fn`.
static bool wrapsKernel(PyObject* object) {
  PyRef inner = PyRef::borrow(object);
  for (int depth = 0; inner && depth < 8; ++depth) {
    inner = attributeIfAny(inner.get(), "fn");
    if (inner && isJitFunction(inner.get())) return true;
  }
  return false;
}

CalleeKind calleeKind(PyObject* object) {
  static llvm::DenseMap<PyObject*, CalleeKind> byType; // guarded by the GIL; the types are kept alive
  PyObject* type = typeOf(object);
  auto [slot, isNew] = byType.try_emplace(type, CalleeKind::Other);
  if (!isNew) return slot->second;
  PyRef(PyRef::borrow(type)).release();
  std::string name = typeName(object);
  CalleeKind kind = CalleeKind::Other;
  if (isBuiltin(object))
    kind = CalleeKind::Builtin;
  else if (PyType_Check(object))
    kind = CalleeKind::Class;
  else if (PyObject_TypeCheck(object, &PyModule_Type))
    kind = CalleeKind::Module;
  else if (name == "function")
    kind = CalleeKind::PythonFunction;
  else if (name == "ConstexprFunction")
    kind = CalleeKind::ConstexprFunction;
  else if (name == "dtype" || name == "pointer_type" || name == "block_type")
    kind = CalleeKind::Dtype;
  else if (isJitFunction(object))
    kind = CalleeKind::Jit;
  byType[type] = kind; // the attribute look-ups above may have added types
  return kind;
}

bool isAggregate(PyObject* object) {
  static PyObject* const fields = interned("__tiletwin_fields__");
  if (isTensor(object) || isConstexpr(object) || PyTuple_Check(object) || calleeKind(object) != CalleeKind::Other)
    return false;
  return bool(attributeIfAny(typeOf(object), fields));
}

Special specialOf(PyObject* object) {
  static constexpr std::pair<const char*, Special> kRows[] = {
      {"static_assert", Special::StaticAssert}, {"static_print", Special::StaticPrint}, {"range", Special::Range},
      {"static_range", Special::StaticRange},   {"condition", Special::Condition},
  };
  static llvm::DenseMap<PyObject*, Special> known; // guarded by the GIL; language objects live for ever
  CalleeKind kind = calleeKind(object);
  if (kind != CalleeKind::Builtin && kind != CalleeKind::Class && kind != CalleeKind::PythonFunction)
    return Special::None;
  if (object == reinterpret_cast<PyObject*>(&PyRange_Type)) return Special::Range;
  auto found = known.find(object);
  if (found != known.end()) return found->second;
  Special special = Special::None;
  std::string module = moduleNameOf(object), text = stringOf(attributeIfAny(object, "__name__").get());
  if (!module.starts_with("tiletwin.language") && !module.starts_with("triton.language")) return Special::None;
  for (auto [row, value] : kRows)
    if (text == row) special = value;
  PyRef(PyRef::borrow(object)).release();
  known[object] = special;
  return special;
}

PyRef Walker::lookUp(PyObject* name) {
  if (PyObject* local = locals_.find(name)) return PyRef::borrow(local);
  if (llvm::is_contained(llvm::make_first_range(locals_.entries), name)) return nameError(name);
  if (PyObject* global = PyDict_GetItemWithError(info_->globals.get(), name)) {
    if (!globalAllowed(global) && wrapsKernel(global))
      return raiseType(stringOf(name) + " is a kernel with a decorator above @triton.jit (" + typeName(global) +
                       "), which launches only: inside kernels call the function itself, " + stringOf(name) + ".fn");
    if (!globalAllowed(global))
      return raise(PyExc_NameError,
                   "Cannot access global variable " + stringOf(name) +
                       " from within @jit'ed function: its value may change after compilation (it is of type " +
                       typeName(global) + "): make it a compile-time constant, " + stringOf(name) +
                       " = tl.constexpr(...), or pass it as an argument; an annotation (" + stringOf(name) +
                       ": tl.constexpr = ...) is not enough");
    return wrapConstant(global);
  }
  if (PyErr_Occurred()) return {};
  static PyObject* const builtins = PyEval_GetBuiltins() ? PyRef::borrow(PyEval_GetBuiltins()).release() : nullptr;
  static constexpr const char* kPythonNames[] = {"len",     "list",    "range", "float", "int",      "isinstance",
                                                 "getattr", "hasattr", "print", "min",   "max",      "str",
                                                 "bool",    "tuple",   "type",  "repr",  "Ellipsis", "issubclass"};
  std::string text = stringOf(name);
  for (const char* allowed : kPythonNames)
    if (text == allowed)
      if (PyObject* found = PyDict_GetItemWithError(builtins, name)) return PyRef::borrow(found);
  return nameError(name);
}

Raised Walker::nameError(PyObject* name) {
  static constexpr std::pair<const char*, const char*> kAdvice[] = {
      {"abs", "use tl.abs(x)"},
      {"sum", "use tl.sum(x, axis)"},
      {"pow", "multiply, or use tl.exp2(y * tl.log2(x))"},
      {"round", "use tl.floor(x + 0.5) or libdevice.rint(x)"},
      {"divmod", "use // and %"},
      {"any", "use tl.max(x, axis), tl.reduce_or(x, axis)"},
      {"all", "use tl.min(x, axis)"},
      {"enumerate", "use `for i in tl.static_range(len(t))` and t[i]"},
      {"zip", "use `for i in tl.static_range(len(t))` and index"},
      {"sorted", "use tl.sort(x)"},
      {"breakpoint", "breakpoint() needs eager mode: set TILETWIN_EAGER=1"},
  };
  std::string text = stringOf(name);
  for (const auto& [lost, why] : llvm::reverse(lost_))
    if (lost == name) return raise(PyExc_NameError, text + " is not defined here: " + why);
  for (auto [row, advice] : kAdvice)
    if (text == row) return raise(PyExc_NameError, text + " is not defined in kernels: " + advice);
  PyRef names = PyRef::steal(PyDict_Keys(info_->globals.get()));
  for (const auto& [local, value] : locals_.entries)
    if (names) PyList_Append(names.get(), local);
  return raise(PyExc_NameError, text + " is not defined" + (names ? didYouMean(name, names.get()) : ""));
}

bool Walker::globalAllowed(PyObject* value) {
  if (isConstexpr(value) || value == Py_None) return true;
  switch (calleeKind(value)) {
  case CalleeKind::Builtin:
  case CalleeKind::Jit:
  case CalleeKind::ConstexprFunction:
  case CalleeKind::PythonFunction: // refused when called, with a better message
  case CalleeKind::Class:
  case CalleeKind::Module:
  case CalleeKind::Dtype: return true;
  case CalleeKind::Other: break;
  }
  std::string type = typeName(value);
  if (type == "builtin_function_or_method" || type == "method" || type == "method_descriptor") return true;
  const std::string module = moduleNameOf(value);
  const char* asked = getenv("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS"); // a knob: may change while the process runs
  return (asked && *asked && *asked != '0') || module.starts_with("tiletwin.language") ||
         module.starts_with("triton.language");
}

} // namespace tiletwin::frontend
