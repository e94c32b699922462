// frontend/EagerSupport.cpp -- assignment, truth, and/or/not, chains and indexing of eager mode.
// Not here:  calls (EagerCalls.cpp), loops (EagerLoops.cpp), the rewrite that inserts all this (python/tiletwin/eager/rewriter.py), evaluation
//            (the eager builder).
// Invariant: types of values are those that compiled mode gives; `and`, `or` and ternaries keep what they need on a
//            stack per thread, which eager_reset empties when a program starts.
#include "frontend/EagerSupport.h"
#include "frontend/Raise.h"
#include "frontend/Structure.h"
#include "frontend/Tracing.h"
#include "frontend/ValueRules.h"
#include "frontend/Walker.h"

namespace tiletwin::frontend {
namespace {

/// First operands of `and` and `or` whose rest is being evaluated; conditions of ternaries. Objects live until popped.
std::vector<PyRef>& pending() {
  static thread_local auto* stack = new std::vector<PyRef>; // not destroyed: Python may be gone when the thread ends
  return *stack;
}

PyRef popPending() {
  if (pending().empty()) return raise(PyExc_SystemError, "tiletwin: eager mode's operand stack is empty");
  PyRef top = std::move(pending().back());
  pending().pop_back();
  return top;
}

PyObject* tensorOrNull(const Value& value) { return value ? makeTensor(value).release() : nullptr; }
PyObject* truthObject(bool value) { return PyBool_FromLong(value); }

/// Truth of a value: 1, 0, or -1 with an error set. Blocks are an error as in compiled mode.
int truthOf(PyObject* value) {
  if (!isTensor(value)) return PyObject_IsTrue(unwrap(value));
  Builder* builder = builderOrError();
  Value condition = builder ? truth(*builder, value) : Value();
  if (!condition) return -1;
  if (!eagerHooks().item) {
    raise(PyExc_SystemError, "tiletwin: eager mode is not set up");
    return -1;
  }
  PyRef item = PyRef::steal(eagerHooks().item(condition));
  return item ? PyObject_IsTrue(item.get()) : -1;
}

PyObject* assign(PyObject*, PyObject* value) {
  if (isTensor(value)) return PyRef::borrow(value).release();
  PyRef wrapped = wrapConstant(value);
  Builder* builder = wrapped ? builderOrError() : nullptr;
  return builder ? materialise(*builder, wrapped.get()).release() : nullptr;
}

PyObject* constant(PyObject*, PyObject* value) {
  PyRef wrapped = wrapConstant(value);
  if (!wrapped || isTensor(wrapped.get()) || isConstexpr(wrapped.get()) || PyTuple_Check(wrapped.get()))
    return wrapped.release();
  return makeConstexpr(wrapped.get()).release();
}

/// What a function sees of an argument.
PyObject* parameter(PyObject*, PyObject* value) { return parameterValue(value).release(); }

/// unpack(values, kept): what `a, b = values` binds; kept says for which names compile-time values stay as they are.
PyObject* unpack(PyObject* self, PyObject* args) {
  PyObject *values, *kept;
  if (!PyArg_ParseTuple(args, "OO!", &values, &PyTuple_Type, &kept)) return nullptr;
  PyRef wrapped = wrapConstant(unwrap(values));
  if (!wrapped || !PyTuple_Check(wrapped.get()) || PyTuple_Size(wrapped.get()) != PyTuple_Size(kept))
    return wrapped.release(); // Python says what is wrong
  llvm::SmallVector<PyRef> items;
  for (Py_ssize_t i = 0; i < PyTuple_Size(kept); ++i) {
    PyObject* item = PyTuple_GetItem(wrapped.get(), i);
    bool keeps = PyTuple_GetItem(kept, i) == Py_True;
    items.push_back(PyRef::steal(keeps ? constant(self, item) : assign(self, item)));
    if (!items.back()) return nullptr;
  }
  return makeTuple(items).release();
}

PyObject* truthFunction(PyObject*, PyObject* value) {
  if (!isTensor(value) && !isConstexpr(value))
    if (PyRef wrapped = PyRef::steal(PyObject_GetAttrString(value, "condition"))) { // tl.condition(c)
      int is = truthOf(wrapped.get());
      return is < 0 ? nullptr : truthObject(is);
    }
  PyErr_Clear();
  int is = truthOf(value);
  return is < 0 ? nullptr : truthObject(is);
}

PyObject* notFunction(PyObject*, PyObject* value) {
  if (isTensor(value)) {
    Builder* builder = builderOrError();
    return builder ? tensorOrNull(unary(*builder, UnaryOp::Not, value)) : nullptr;
  }
  int is = PyObject_IsTrue(unwrap(value));
  return is < 0 ? nullptr : truthObject(!is);
}

/// `a and b` is `end_and(b) if begin_and(a) else take()`: a compile-time a decides or drops out, a tensor never
/// decides.
PyObject* begin(PyObject* value, bool isAnd) {
  bool evaluateRest = true;
  if (!isTensor(value)) {
    int is = PyObject_IsTrue(unwrap(value));
    if (is < 0) return nullptr;
    evaluateRest = bool(is) == isAnd;
  }
  pending().push_back(PyRef::borrow(value));
  return truthObject(evaluateRest);
}
PyObject* end(PyObject* second, bool isAnd) {
  PyRef first = popPending();
  if (!first || !isTensor(first.get())) return first ? PyRef::borrow(second).release() : nullptr;
  if (!isTensor(second)) {
    int is = PyObject_IsTrue(unwrap(second));
    if (is < 0) return nullptr;
    return bool(is) == isAnd ? first.release() : PyRef::borrow(second).release();
  }
  Builder* builder = builderOrError();
  return builder
             ? tensorOrNull(binary(*builder, isAnd ? BinaryOp::LogicalAnd : BinaryOp::LogicalOr, first.get(), second))
             : nullptr;
}
PyObject* beginAnd(PyObject*, PyObject* value) { return begin(value, true); }
PyObject* beginOr(PyObject*, PyObject* value) { return begin(value, false); }
PyObject* endAnd(PyObject*, PyObject* value) { return end(value, true); }
PyObject* endOr(PyObject*, PyObject* value) { return end(value, false); }
PyObject* take(PyObject*, PyObject*) { return popPending().release(); }

/// `x if c else y` is `end_if(x) if begin_if(c) else end_if(y)`: numbers become tensors if c is one.
PyObject* beginIf(PyObject*, PyObject* condition) {
  int is = truthOf(condition);
  if (is < 0) return nullptr;
  pending().push_back(PyRef::borrow(condition));
  return truthObject(is);
}
PyObject* endIf(PyObject*, PyObject* value) {
  PyRef condition = popPending();
  if (!condition || !isTensor(condition.get()) || unwrap(value) == Py_None)
    return condition ? PyRef::borrow(value).release() : nullptr;
  Builder* builder = builderOrError();
  return builder ? tensorOrNull(toTensor(*builder, value)) : nullptr;
}

PyObject* identity(PyObject* args, bool wanted) {
  PyObject *x, *y;
  return PyArg_ParseTuple(args, "OO", &x, &y) ? truthObject(isSame(x, y) == wanted) : nullptr;
}
PyObject* isFunction(PyObject*, PyObject* args) { return identity(args, true); }
PyObject* isNotFunction(PyObject*, PyObject* args) { return identity(args, false); }

PyObject* membership(PyObject* args, bool wanted) {
  PyObject *item, *container;
  if (!PyArg_ParseTuple(args, "OO", &item, &container)) return nullptr;
  int in = contains(container, item);
  return in < 0 ? nullptr : truthObject((in == 1) == wanted);
}
PyObject* inFunction(PyObject*, PyObject* args) { return membership(args, true); }
PyObject* notInFunction(PyObject*, PyObject* args) { return membership(args, false); }

/// chain(first result, second result, ...) of `a < b < c`: all true; compile-time results decide or drop out.
PyObject* allOf(PyObject*, PyObject* args) {
  PyRef result = PyRef::borrow(Py_True);
  for (Py_ssize_t i = 0; i < PyTuple_Size(args); ++i) {
    PyObject* next = PyTuple_GetItem(args, i);
    pending().push_back(result);
    if (!isTensor(result.get())) {
      int is = PyObject_IsTrue(unwrap(result.get()));
      pending().pop_back();
      if (is <= 0) return is < 0 ? nullptr : result.release();
      result = PyRef::borrow(next);
      continue;
    }
    result = PyRef::steal(end(next, true));
    if (!result) return nullptr;
  }
  return result.release();
}

/// chain((LT, IS_NOT), a, b, c): `a < b is not c` with each operand computed once. Operators are Py_LT ... Py_GE, and
/// after those: is, is not, in, not in.
PyObject* chain(PyObject*, PyObject* args) {
  Py_ssize_t size = PyTuple_Size(args);
  if (size < 3) return raiseType("a chain has operators and at least two operands");
  PyObject* operators = PyTuple_GetItem(args, 0);
  PyRef results = PyRef::steal(PyTuple_New(size - 2));
  for (Py_ssize_t i = 0; results && i < size - 2; ++i) {
    long op = PyLong_AsLong(PyTuple_GetItem(operators, i));
    PyObject *x = PyTuple_GetItem(args, i + 1), *y = PyTuple_GetItem(args, i + 2);
    int is = op < 6 ? 0 : op < 8 ? isSame(x, y) : contains(y, x);
    if (is < 0) return nullptr;
    PyRef result = op < 6 ? PyRef::steal(PyObject_RichCompare(x, y, int(op)))
                          : PyRef::steal(truthObject(bool(is) == (op % 2 == 0)));
    if (!result || PyTuple_SetItem(results.get(), i, result.release()) < 0) return nullptr;
  }
  return results ? allOf(nullptr, results.get()) : nullptr;
}

PyObject* plain(PyObject*, PyObject* value) { return unwrapDeep(value).release(); }

PyObject* tupleOf(PyObject*, PyObject* list) {
  PyRef tuple = PyRef::steal(PySequence_Tuple(list));
  return tuple ? wrapConstant(tuple.get()).release() : nullptr;
}

/// returned(value, conditions...): a function whose returns depend on run-time conditions returns tensors, not numbers.
PyObject* returned(PyObject* self, PyObject* args) {
  bool dynamic = false;
  for (Py_ssize_t i = 1; i < PyTuple_Size(args); ++i) dynamic |= isTensor(PyTuple_GetItem(args, i));
  PyObject* value = PyTuple_GetItem(args, 0);
  return dynamic ? assign(self, value) : PyRef::borrow(value).release();
}

PyObject* adviceFor(PyObject*, PyObject* name) {
  const char* advice = statementAdvice(stringOf(name));
  return advice ? PyUnicode_FromString(advice)
                : static_cast<PyObject*>(raiseValue("kernels are not known to lack " + stringOf(name)));
}

/// value.type; Python's own tuples have none.
PyObject* typeAttribute(PyObject*, PyObject* value) {
  if (PyObject* type = PyObject_GetAttrString(value, "type")) return type;
  if (!PyTuple_Check(value)) return nullptr;
  PyErr_Clear();
  TracingPause pause;
  return typeOfTuple(value).release();
}

PyObject* reset(PyObject*, PyObject*) {
  pending().clear();
  forgetLoops();
  return PyRef::borrow(Py_None).release();
}

PyObject* subscriptFunction(PyObject*, PyObject* args) {
  PyObject *base, *index;
  if (!PyArg_ParseTuple(args, "OO", &base, &index)) return nullptr;
  if (!isTensor(base)) return PyObject_GetItem(base, index);
  Builder* builder = builderOrError();
  return builder ? tensorOrNull(subscript(*builder, tensorValue(base), index)) : nullptr;
}

} // namespace

Builder* builderOrError() {
  Builder* builder = Builder::current();
  if (!builder) raise(PyExc_RuntimeError, "a kernel's function was called outside a launch");
  return builder;
}

int addEagerSupport(PyObject* module) {
  static PyMethodDef functions[] = {
      {"eager_assign", assign, METH_O, "What `x = value` binds: numbers become tensors, through tuples."},
      {"eager_constant", constant, METH_O, "What `x: tl.constexpr = value` binds."},
      {"eager_parameter", parameter, METH_O, "What a function sees of an argument."},
      {"eager_unpack", unpack, METH_VARARGS, "What `a, b = values` binds where some names stay constant."},
      {"eager_truth", truthFunction, METH_O, "The test of `if` and `while`, a bool."},
      {"eager_not", notFunction, METH_O, "`not x`."},
      {"eager_begin_and", beginAnd, METH_O, "First half of `a and b`: whether b is computed."},
      {"eager_end_and", endAnd, METH_O, "Second half of `a and b`."},
      {"eager_begin_or", beginOr, METH_O, "First half of `a or b`: whether b is computed."},
      {"eager_end_or", endOr, METH_O, "Second half of `a or b`."},
      {"eager_take", take, METH_NOARGS, "The operand that decided."},
      {"eager_begin_if", beginIf, METH_O, "The condition of a ternary."},
      {"eager_end_if", endIf, METH_O, "The chosen value of a ternary."},
      {"eager_is", isFunction, METH_VARARGS, "`x is y`."},
      {"eager_is_not", isNotFunction, METH_VARARGS, "`x is not y`."},
      {"eager_in", inFunction, METH_VARARGS, "`x in y` of compile-time values."},
      {"eager_not_in", notInFunction, METH_VARARGS, "`x not in y` of compile-time values."},
      {"eager_chain", chain, METH_VARARGS, "`a < b < c`."},
      {"eager_plain", plain, METH_O, "The value of a constexpr."},
      {"eager_tuple", tupleOf, METH_O, "A list as the language's tuple."},
      {"eager_returned", returned, METH_VARARGS, "The value of a return that depends on run-time conditions."},
      {"eager_subscript", subscriptFunction, METH_VARARGS, "`x[index]` in a kernel's own text."},
      {"eager_type_attribute", typeAttribute, METH_O, "`x.type` in a kernel's own text."},
      {"eager_reset", reset, METH_NOARGS, "Forgets operands that an exception left behind."},
      {"statement_advice", adviceFor, METH_O, "Why kernels do not have a statement, and what to write instead."},
      {nullptr, nullptr, 0, nullptr},
  };
  if (PyModule_AddFunctions(module, functions) < 0 || addEagerCalls(module) < 0) return -1;
  return addEagerLoops(module);
}

} // namespace tiletwin::frontend
