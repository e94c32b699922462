// frontend/Names.cpp -- interned names, operator table, name lookup (rule 57), what kind of thing a callee is.
#include "frontend/PackageObject.h"
#include "frontend/Raise.h"
#include "frontend/Walker.h"

namespace tiletwin::frontend {

PyObject* interned(const char* text) { return PyUnicode_InternFromString(text); }

std::string stringOf(PyObject* unicode) {
  Py_ssize_t size = 0;
  const char* utf8 = unicode && PyUnicode_Check(unicode) ? PyUnicode_AsUTF8AndSize(unicode, &size) : nullptr;
  if (!utf8) {
    PyErr_Clear();
    return {};
  }
  return std::string(utf8, size);
}

const AstNames& astNames() {
  static const AstNames names = [] {
    AstNames n{};
    const std::pair<PyObject**, const char*> kRows[] = {
        {&n.lineno, "lineno"},
        {&n.col_offset, "col_offset"},
        {&n.id, "id"},
        {&n.ctx, "ctx"},
        {&n.value, "value"},
        {&n.targets, "targets"},
        {&n.target, "target"},
        {&n.annotation, "annotation"},
        {&n.op, "op"},
        {&n.ops, "ops"},
        {&n.left, "left"},
        {&n.right, "right"},
        {&n.operand, "operand"},
        {&n.values, "values"},
        {&n.comparators, "comparators"},
        {&n.test, "test"},
        {&n.body, "body"},
        {&n.orelse, "orelse"},
        {&n.func, "func"},
        {&n.args, "args"},
        {&n.keywords, "keywords"},
        {&n.arg, "arg"},
        {&n.attr, "attr"},
        {&n.slice, "slice"},
        {&n.elts, "elts"},
        {&n.lower, "lower"},
        {&n.upper, "upper"},
        {&n.step, "step"},
        {&n.iter, "iter"},
        {&n.msg, "msg"},
        {&n.conversion, "conversion"},
        {&n.elt, "elt"},
        {&n.generators, "generators"},
        {&n.ifs, "ifs"},
        {&n.name, "name"},
        {&n.posonlyargs, "posonlyargs"},
        {&n.vararg, "vararg"},
        {&n.kwonlyargs, "kwonlyargs"},
        {&n.kwarg, "kwarg"},
        {&n.items, "items"},
        {&n.context_expr, "context_expr"},
        {&n.format_spec, "format_spec"},
        {&n.names, "names"},
        {&n.simple, "simple"},
    };
    for (auto [slot, text] : kRows) *slot = interned(text);
    return n;
  }();
  return names;
}

PyObject* astClass(const char* name) {
  PyRef ast = PyRef::steal(PyImport_ImportModule("ast"));
  return ast ? PyObject_GetAttrString(ast.get(), name) : nullptr;
}

const AstClasses& astClasses() {
  static const AstClasses classes = [] {
    AstClasses c{};
    const std::pair<PyObject**, const char*> kRows[] = {
        {&c.assign, "Assign"},       {&c.annAssign, "AnnAssign"},
        {&c.augAssign, "AugAssign"}, {&c.forLoop, "For"},
        {&c.whileLoop, "While"},     {&c.ifStatement, "If"},
        {&c.withStatement, "With"},  {&c.returnStatement, "Return"},
        {&c.name, "Name"},           {&c.tuple, "Tuple"},
        {&c.list, "List"},           {&c.call, "Call"},
        {&c.namedExpr, "NamedExpr"}, {&c.attribute, "Attribute"},
        {&c.constant, "Constant"},   {&c.starred, "Starred"},
        {&c.subscript, "Subscript"},
    };
    for (auto [slot, name] : kRows) *slot = astClass(name);
    return c;
  }();
  return classes;
}

namespace {

using enum AstOperator;
constexpr OperatorRow kOperators[] = {
    {"Add", Add, "+", "__add__", "__radd__"},
    {"Sub", Sub, "-", "__sub__", "__rsub__"},
    {"Mult", Mult, "*", "__mul__", "__rmul__"},
    {"Div", Div, "/", "__truediv__", "__rtruediv__"},
    {"FloorDiv", FloorDiv, "//", "__floordiv__", "__rfloordiv__"},
    {"Mod", Mod, "%", "__mod__", "__rmod__"},
    {"Pow", Pow, "**", "__pow__", "__rpow__"},
    {"MatMult", MatMult, "@", "__matmul__", "__rmatmul__"},
    {"LShift", LShift, "<<", "__lshift__", "__rlshift__"},
    {"RShift", RShift, ">>", "__rshift__", "__rrshift__"},
    {"BitAnd", BitAnd, "&", "__and__", "__rand__"},
    {"BitOr", BitOr, "|", "__or__", "__ror__"},
    {"BitXor", BitXor, "^", "__xor__", "__rxor__"},
    {"Eq", Eq, "==", "__eq__", "__eq__"},
    {"NotEq", NotEq, "!=", "__ne__", "__ne__"},
    {"Lt", Lt, "<", "__lt__", "__gt__"},
    {"LtE", LtE, "<=", "__le__", "__ge__"},
    {"Gt", Gt, ">", "__gt__", "__lt__"},
    {"GtE", GtE, ">=", "__ge__", "__le__"},
    {"Is", Is, "is", "", ""},
    {"IsNot", IsNot, "is not", "", ""},
    {"In", In, "in", "", ""},
    {"NotIn", NotIn, "not in", "", ""},
    {"And", And, "and", "logical_and", "logical_and"},
    {"Or", Or, "or", "logical_or", "logical_or"},
    {"USub", USub, "-", "__neg__", ""},
    {"UAdd", UAdd, "+", "__pos__", ""},
    {"Invert", Invert, "~", "__invert__", ""},
    {"Not", Not, "not", "__not__", ""},
};

} // namespace

const OperatorRow& operatorRow(AstOperator op) {
  for (const OperatorRow& row : kOperators)
    if (row.op == op) return row;
  return kOperators[0];
}

const OperatorRow* operatorRow(PyObject* node) {
  static const llvm::DenseMap<PyObject*, const OperatorRow*> table = [] {
    llvm::DenseMap<PyObject*, const OperatorRow*> made;
    for (const OperatorRow& row : kOperators) made[astClass(row.node)] = &row;
    return made;
  }();
  auto found = table.find(reinterpret_cast<PyObject*>(Py_TYPE(node)));
  if (found != table.end()) return found->second;
  raiseNotImplemented("operator " + typeName(node) + " is not supported in kernels");
  return nullptr;
}

namespace {

/// By class, not by attributes: computed attributes run Python code, which a debugger's `step` would enter.
bool isJitFunction(PyObject* object) {
  static PyObject* const cls = packageObject("JITFunction").release();
  if (!cls) PyErr_Clear();
  return cls && PyObject_IsInstance(object, cls) == 1;
}

} // namespace

/// An Autotuner, Heuristics or other object that launches the jit function in its `fn`.
static bool wrapsKernel(PyObject* object) {
  PyRef inner = PyRef::borrow(object);
  for (int depth = 0; inner && depth < 8; ++depth) {
    inner = PyRef::steal(PyObject_GetAttrString(inner.get(), "fn"));
    if (inner && isJitFunction(inner.get())) return true;
  }
  PyErr_Clear();
  return false;
}

CalleeKind calleeKind(PyObject* object) {
  static llvm::DenseMap<PyObject*, CalleeKind> byType; // guarded by the GIL; the types are kept alive
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
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
  PyRef found = PyRef::steal(PyObject_GetAttr(classOf(object), fields));
  PyErr_Clear();
  return bool(found);
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
  PyRef name = PyRef::steal(PyObject_GetAttrString(object, "__name__"));
  PyRef module = PyRef::steal(PyObject_GetAttrString(object, "__module__"));
  PyErr_Clear();
  Special special = Special::None;
  std::string moduleText = module ? stringOf(module.get()) : "";
  llvm::StringRef moduleName = moduleText;
  if (!moduleName.starts_with("tiletwin.language") && !moduleName.starts_with("triton.language")) return Special::None;
  std::string text = name ? stringOf(name.get()) : "";
  for (auto [row, value] : kRows)
    if (text == row) special = value;
  PyRef(PyRef::borrow(object)).release();
  known[object] = special;
  return special;
}

PyRef Walker::lookUp(PyObject* name) {
  if (PyObject* local = locals_.find(name)) return PyRef::borrow(local);
  if (llvm::is_contained(llvm::make_first_range(locals_.entries), name)) return nameError(name), PyRef();
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
  nameError(name);
  return {};
}

bool Walker::nameError(PyObject* name) {
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
  PyRef module = PyRef::steal(PyObject_GetAttrString(value, "__module__"));
  PyErr_Clear();
  std::string text = module ? stringOf(module.get()) : "";
  const char* asked = getenv("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS"); // a knob: may change while the process runs
  return (asked && *asked && *asked != '0') || llvm::StringRef(text).starts_with("tiletwin.language") ||
         llvm::StringRef(text).starts_with("triton.language");
}

} // namespace tiletwin::frontend
