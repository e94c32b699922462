// frontend/EagerSupport.cpp -- assignment, truth, and/or/not, chains and indexing of eager mode.
// Not here:  calls (EagerCalls.cpp), loops (EagerLoops.cpp), evaluation (the eager builder), the rewrite that inserts all
//            this (python/tiletwin/eager/rewriter.py).
// Invariant: types of values are those that compiled mode gives; `and`, `or` and ternaries keep what they need on a
//            stack per thread, which eager_reset empties when a program starts.
#include "frontend/EagerSupport.h"
#include "frontend/PyFunctions.h"
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

PyRef tensorOrNull(const Value& value) { return value ? makeTensor(value) : PyRef(); }
/// A bool of 1 or 0; null of -1.
PyRef truthObject(int truth) { return truth < 0 ? PyRef() : toPython(truth != 0); }

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

PyRef assign(PyObject* value) {
  if (isTensor(value)) return PyRef::borrow(value);
  PyRef wrapped = wrapConstant(value);
  Builder* builder = wrapped ? builderOrError() : nullptr;
  return builder ? materialise(*builder, wrapped.get()) : PyRef();
}

PyRef constant(PyObject* value) {
  PyRef wrapped = wrapConstant(value);
  if (!wrapped || isTensor(wrapped.get()) || isConstexpr(wrapped.get()) || PyTuple_Check(wrapped.get())) return wrapped;
  return makeConstexpr(wrapped.get());
}

/// What `a, b = values` binds; `kept` says for which names compile-time values stay as they are.
PyRef unpack(PyObject* values, TupleArgument kept) {
  PyRef wrapped = wrapConstant(unwrap(values));
  const itemsOf keeps(kept.get());
  if (!wrapped || !PyTuple_Check(wrapped.get()) || itemsOf(wrapped).size() != keeps.size())
    return wrapped; // Python says what is wrong
  llvm::SmallVector<PyRef> items;
  for (PyObject* item : itemsOf(wrapped)) {
    items.push_back(keeps[items.size()] == Py_True ? constant(item) : assign(item));
    if (!items.back()) return {};
  }
  return makeTuple(items);
}

PyRef truthFunction(PyObject* value) {
  if (!isTensor(value) && !isConstexpr(value))
    if (PyRef wrapped = attributeIfAny(value, "condition"))
      return truthObject(truthOf(wrapped.get())); // tl.condition(c)
  return truthObject(truthOf(value));
}

PyRef negation(PyObject* value) {
  if (isTensor(value)) {
    Builder* builder = builderOrError();
    return builder ? tensorOrNull(unary(*builder, UnaryOp::Not, value)) : PyRef();
  }
  return truthObject(PyObject_Not(unwrap(value)));
}

/// `a and b` is `end_and(b) if begin_and(a) else take()`: a compile-time a decides or drops out, a tensor never
/// decides.
template <bool isAnd> PyRef begin(PyObject* value) {
  const int is = isTensor(value) ? isAnd : PyObject_IsTrue(unwrap(value));
  if (is < 0) return {};
  pending().push_back(PyRef::borrow(value));
  return toPython(bool(is) == isAnd);
}
template <bool isAnd> PyRef end(PyObject* second) {
  PyRef first = popPending();
  if (!first || !isTensor(first.get())) return first ? PyRef::borrow(second) : PyRef();
  if (!isTensor(second)) {
    int is = PyObject_IsTrue(unwrap(second));
    if (is < 0) return {};
    return bool(is) == isAnd ? first : PyRef::borrow(second);
  }
  Builder* builder = builderOrError();
  constexpr BinaryOp op = isAnd ? BinaryOp::LogicalAnd : BinaryOp::LogicalOr;
  return builder ? tensorOrNull(binary(*builder, op, first.get(), second)) : PyRef();
}

/// `x if c else y` is `end_if(x) if begin_if(c) else end_if(y)`: numbers become tensors if c is one.
PyRef beginIf(PyObject* condition) {
  int is = truthOf(condition);
  if (is < 0) return {};
  pending().push_back(PyRef::borrow(condition));
  return truthObject(is);
}
PyRef endIf(PyObject* value) {
  PyRef condition = popPending();
  if (!condition || !isTensor(condition.get()) || unwrap(value) == Py_None)
    return condition ? PyRef::borrow(value) : PyRef();
  Builder* builder = builderOrError();
  return builder ? tensorOrNull(toTensor(*builder, value)) : PyRef();
}

template <bool wanted> PyRef identity(PyObject* x, PyObject* y) { return toPython(isSame(x, y) == wanted); }

template <bool wanted> PyRef membership(PyObject* item, PyObject* container) {
  const int in = contains(container, item);
  return truthObject(in < 0 ? in : (in == 1) == wanted);
}

/// Results of `a < b < c`, in order: all true; compile-time results decide or drop out.
PyRef allOf(const PyRef& results) {
  PyRef result = PyRef::borrow(Py_True);
  for (PyObject* next : itemsOf(results)) {
    if (isTensor(result.get())) {
      pending().push_back(result);
      result = end<true>(next);
      if (!result) return {};
      continue;
    }
    int is = PyObject_IsTrue(unwrap(result.get()));
    if (is <= 0) return is < 0 ? PyRef() : result;
    result = PyRef::borrow(next);
  }
  return result;
}

/// chain((LT, IS_NOT), a, b, c): `a < b is not c` with each operand computed once. Operators are Py_LT ... Py_GE, and
/// after those: is, is not, in, not in.
PyObject* chain(PyObject*, PyObject* args) {
  const itemsOf given(args);
  if (given.size() < 3) return raiseType("a chain has operators and at least two operands");
  std::vector<PyRef> results;
  for (size_t i = 1; i + 1 < given.size(); ++i) {
    const long op = PyLong_AsLong(itemsOf(given[0])[i - 1]);
    PyObject *x = given[i], *y = given[i + 1];
    const int is = op < 6 ? 0 : op < 8 ? isSame(x, y) : contains(y, x);
    if (is < 0) return nullptr;
    results.push_back(op < 6 ? PyRef::steal(PyObject_RichCompare(x, y, int(op))) : toPython(bool(is) == (op % 2 == 0)));
    if (!results.back()) return nullptr;
  }
  return allOf(pyTupleFrom(results)).release();
}

PyRef tupleOf(PyObject* list) {
  PyRef tuple = PyRef::steal(PySequence_Tuple(list));
  return tuple ? wrapConstant(tuple.get()) : PyRef();
}

/// returned(value, conditions...): a function whose returns depend on run-time conditions returns tensors, not numbers.
PyObject* returned(PyObject*, PyObject* args) {
  const itemsOf given(args);
  bool dynamic = false;
  for (size_t i = 1; i < given.size(); ++i) dynamic |= isTensor(given[i]);
  return (dynamic ? assign(given[0]) : PyRef::borrow(given[0])).release();
}

PyRef adviceFor(std::string_view name) {
  if (const char* advice = statementAdvice(name)) return toPython(advice);
  return raiseValue("kernels are not known to lack " + llvm::Twine(name));
}

/// value.type; Python's own tuples have none.
PyRef typeAttribute(PyObject* value) {
  PyRef type = attribute(value, "type");
  if (type || !PyTuple_Check(value)) return type;
  PyErr_Clear();
  TracingPause pause;
  return typeOfTuple(value);
}

void reset() {
  pending().clear();
  forgetLoops();
}

PyRef subscriptFunction(PyObject* base, PyObject* index) {
  if (!isTensor(base)) return PyRef::steal(PyObject_GetItem(base, index));
  Builder* builder = builderOrError();
  return builder ? tensorOrNull(subscript(*builder, tensorValue(base), index)) : PyRef();
}

} // namespace

Builder* builderOrError() {
  Builder* builder = Builder::current();
  if (!builder) raise(PyExc_RuntimeError, "a kernel's function was called outside a launch");
  return builder;
}

bool addEagerSupport(PyObject* module) {
  return addFunctions(
             module,
             {function<"eager_assign", assign>("What `x = value` binds: numbers become tensors, through tuples."),
              function<"eager_constant", constant>("What `x: tl.constexpr = value` binds."),
              function<"eager_parameter", parameterValue>("What a function sees of an argument."),
              function<"eager_unpack", unpack>("What `a, b = values` binds where some names stay constant."),
              function<"eager_truth", truthFunction>("The test of `if` and `while`, a bool."),
              function<"eager_not", negation>("`not x`."),
              function<"eager_begin_and", begin<true>>("First half of `a and b`: whether b is computed."),
              function<"eager_end_and", end<true>>("Second half of `a and b`."),
              function<"eager_begin_or", begin<false>>("First half of `a or b`: whether b is computed."),
              function<"eager_end_or", end<false>>("Second half of `a or b`."),
              function<"eager_take", popPending>("The operand that decided."),
              function<"eager_begin_if", beginIf>("The condition of a ternary."),
              function<"eager_end_if", endIf>("The chosen value of a ternary."),
              function<"eager_is", identity<true>>("`x is y`."),
              function<"eager_is_not", identity<false>>("`x is not y`."),
              function<"eager_in", membership<true>>("`x in y` of compile-time values."),
              function<"eager_not_in", membership<false>>("`x not in y` of compile-time values."),
              {"eager_chain", chain, METH_VARARGS, "`a < b < c`."},
              function<"eager_plain", unwrapDeep>("The value of a constexpr."),
              function<"eager_tuple", tupleOf>("A list as the language's tuple."),
              {"eager_returned", returned, METH_VARARGS, "The value of a return that depends on run-time conditions."},
              function<"eager_subscript", subscriptFunction>("`x[index]` in a kernel's own text."),
              function<"eager_type_attribute", typeAttribute>("`x.type` in a kernel's own text."),
              function<"eager_reset", reset>("Forgets operands that an exception left behind."),
              function<"statement_advice", adviceFor>(
                  "Why kernels do not have a statement, and what to write instead.")}) &&
         addEagerCalls(module) && addEagerLoops(module);
}

} // namespace tiletwin::frontend
