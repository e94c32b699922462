// frontend/EagerCalls.cpp -- what a call in eager mode runs: the rewritten bodies of jit functions, casts by types, the
// language's own meaning of Python's min, max and isinstance, and everything else as Python has it.
// Not here:  the rewrite itself (python/tiletwin/eager/rewriter.py), the language's functions (BuiltinObject.cpp).
#include "frontend/EagerSupport.h"
#include "frontend/PackageObject.h"
#include "frontend/PyFunctions.h"
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
PyMethodDef kUntraced = withKeywords("untraced", untraced);

/// `function`, which runs the body of `jit`; not to be stepped into if it belongs to the language.
PyRef steppable(PyRef function, PyObject* jit) {
  if (!function || !TracingPause::current()) return function;
  if (!llvm::StringRef(moduleNameOf(jit)).starts_with("tiletwin.")) return function;
  return PyRef::steal(PyCFunction_NewEx(&kUntraced, function.get(), nullptr));
}

/// The Python function that runs a jit function's body in this mode. It is cached on the jit function.
PyRef eagerFunction(PyObject* jit) {
  static PyObject* const name = interned("_eager_function");
  if (PyRef known = attributeIfAny(jit, name)) return steppable(std::move(known), jit);
  TracingPause pause;
  PyRef function = call(packageObject("eager_function"), jit);
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
  static PyObject* const minFunction = imported("builtins", "min").release();
  static PyObject* const maxFunction = imported("builtins", "max").release();
  static PyObject* const isInstanceFunction = imported("builtins", "isinstance").release();
  if (function == isInstanceFunction) return PyRef::steal(PyCFunction_New(&kIsInstance, nullptr));
  if (function == minFunction || function == maxFunction)
    return languageFunction(function == minFunction ? "builtin_min" : "builtin_max");
  return PyRef::borrow(function);
}

/// What `base.name(...)` calls, bound to base where the language binds it.
PyRef methodOf(PyObject* base, PyObject* name) {
  CalleeKind kind = isConstexpr(base) ? CalleeKind::Class : calleeKind(base);
  if (kind == CalleeKind::Other) {
    PyRef onType = attributeIfAny(typeOf(base), name);
    if (onType && calleeKind(onType.get()) == CalleeKind::Jit) {
      PyRef function = eagerFunction(onType.get());
      return function ? bindMethod(function.get(), base) : PyRef();
    }
  }
  PyRef found = attribute(base, name);
  return found ? calleeOf(found.get()) : PyRef();
}

} // namespace

bool addEagerCalls(PyObject* module) {
  return addFunctions(module, {function<"eager_callee", calleeOf>("What a call of this object runs."),
                               function<"eager_method", methodOf>("What a call of base.name runs.")});
}

} // namespace tiletwin::frontend
