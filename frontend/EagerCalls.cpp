// frontend/EagerCalls.cpp -- what a call in eager mode runs: the rewritten bodies of jit functions, casts by types, the
// language's own meaning of Python's min, max and isinstance, and everything else as Python has it.
// Not here:  the rewrite itself (python/tiletwin/eager/rewriter.py), the language's functions (BuiltinObject.cpp).
#include "frontend/EagerSupport.h"
#include "frontend/ObjectSupport.h"
#include "frontend/PackageObject.h"
#include "frontend/Raise.h"
#include "frontend/Structure.h"
#include "frontend/Tracing.h"
#include "frontend/ValueRules.h"
#include "frontend/Walker.h"

namespace tiletwin::frontend {
namespace {

/// function(*args, **kwargs) of the package's own, through which a debugger's `step` goes as through one operation.
PyObject* untraced(PyObject* function, PyObject* args, PyObject* kwargs) {
  TracingPause pause;
  return PyObject_Call(function, args, kwargs);
}
PyMethodDef kUntraced = {"untraced", withKeywords(untraced), METH_VARARGS | METH_KEYWORDS, nullptr};

/// `function`, which runs the body of `jit`; not to be stepped into if it belongs to the language.
PyRef steppable(PyRef function, PyObject* jit) {
  if (!function || !TracingPause::current()) return function;
  PyRef module = PyRef::steal(PyObject_GetAttrString(jit, "__module__"));
  PyErr_Clear();
  const char* name = module && PyUnicode_Check(module.get()) ? PyUnicode_AsUTF8AndSize(module.get(), nullptr) : "";
  if (!name || !llvm::StringRef(name).starts_with("tiletwin.")) return function;
  return PyRef::steal(PyCFunction_NewEx(&kUntraced, function.get(), nullptr));
}

/// The Python function that runs a jit function's body in this mode. It is cached on the jit function.
PyRef eagerFunction(PyObject* jit) {
  static PyObject* const name = interned("_eager_function");
  PyRef known = PyRef::steal(PyObject_GetAttr(jit, name));
  if (known) return steppable(std::move(known), jit);
  PyErr_Clear();
  TracingPause pause;
  PyRef make = packageObject("eager_function");
  PyRef function = make ? PyRef::steal(PyObject_CallFunctionObjArgs(make.get(), jit, nullptr)) : PyRef();
  pause.resume();
  return steppable(std::move(function), jit);
}

/// dtype(value), with the dtype as self.
PyObject* castTo(PyObject* dtype, PyObject* value) {
  Builder* builder = builderOrError();
  return builder ? callDtype(*builder, dtype, {PyRef::borrow(value)}).release() : nullptr;
}
PyMethodDef kCastTo = {"dtype", castTo, METH_O, nullptr};

/// isinstance(value, classes): of a compile-time value, its value.
PyObject* isInstance(PyObject*, PyObject* args) {
  PyObject *value, *classes;
  if (!PyArg_ParseTuple(args, "OO", &value, &classes)) return nullptr;
  PyRef plainClasses = unwrapDeep(classes);
  int is = plainClasses ? PyObject_IsInstance(unwrap(value), plainClasses.get()) : -1;
  return is < 0 ? nullptr : PyBool_FromLong(is);
}
PyMethodDef kIsInstance = {"isinstance", isInstance, METH_VARARGS, nullptr};

PyRef calleeOf(PyObject* function) {
  function = unwrap(function);
  switch (calleeKind(function)) {
  case CalleeKind::Jit: return eagerFunction(function);
  case CalleeKind::Dtype: return PyRef::steal(PyCFunction_NewEx(&kCastTo, function, nullptr));
  default: break;
  }
  static PyObject* const builtins = PyImport_ImportModule("builtins");
  static PyObject* const minFunction = PyObject_GetAttrString(builtins, "min");
  static PyObject* const maxFunction = PyObject_GetAttrString(builtins, "max");
  static PyObject* const isInstanceFunction = PyObject_GetAttrString(builtins, "isinstance");
  if (function == isInstanceFunction) return PyRef::steal(PyCFunction_New(&kIsInstance, nullptr));
  if (function == minFunction || function == maxFunction)
    return languageFunction(function == minFunction ? "builtin_min" : "builtin_max");
  return PyRef::borrow(function);
}

PyObject* callee(PyObject*, PyObject* function) { return calleeOf(function).release(); }

/// method(base, name): what `base.name(...)` calls, bound to base where the language binds it.
PyObject* method(PyObject*, PyObject* args) {
  PyObject *base, *name;
  if (!PyArg_ParseTuple(args, "OU", &base, &name)) return nullptr;
  CalleeKind kind = isConstexpr(base) ? CalleeKind::Class : calleeKind(base);
  if (kind == CalleeKind::Other) {
    PyRef onType = PyRef::steal(PyObject_GetAttr(reinterpret_cast<PyObject*>(Py_TYPE(base)), name));
    PyErr_Clear();
    if (onType && calleeKind(onType.get()) == CalleeKind::Jit) {
      PyRef function = eagerFunction(onType.get());
      return function ? bindMethod(function.get(), base).release() : nullptr;
    }
  }
  PyRef found = PyRef::steal(PyObject_GetAttr(base, name));
  return found ? calleeOf(found.get()).release() : nullptr;
}

} // namespace

int addEagerCalls(PyObject* module) {
  static PyMethodDef functions[] = {
      {"eager_callee", callee, METH_O, "What a call of this object runs."},
      {"eager_method", method, METH_VARARGS, "What a call of base.name runs."},
      {nullptr, nullptr, 0, nullptr},
  };
  return PyModule_AddFunctions(module, functions);
}

} // namespace tiletwin::frontend
