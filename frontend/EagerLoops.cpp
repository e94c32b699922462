// frontend/EagerLoops.cpp -- loops of eager mode: what a `for` runs over, and the types that loops carry (rule 52).
// Not here:  the rewrite that inserts the calls (python/tiletwin/eager/rewriter.py), other statements
//            (EagerSupport.cpp).
// Idea:      a loop's site is a constant tuple (file, line, column, source line, the function's first line,
//            ((name, line), ...)) with the variables that its body assigns. Their types are taken when the loop begins, and compared
//            before each further round. The variables are read from the locals of the frame that calls.
// Invariant: no name is added to the frame, and no line is executed that is not the user's.
#include "frontend/CompilationError.h"
#include "frontend/EagerSupport.h"
#include "frontend/LoopRange.h"
#include "frontend/PyFunctions.h"
#include "frontend/Raise.h"
#include "frontend/Structure.h"
#include "frontend/Walker.h"
#include <map>

namespace tiletwin::frontend {
namespace {

/// counter(i), with the loop's dtype as self: one value of a loop's variable.
PyObject* counter(PyObject* dtype, PyObject* number) {
  Type type;
  Builder* builder = builderOrError();
  if (!builder || !typeFromPython(dtype, type)) return nullptr;
  return makeTensor(numberAs(*builder, number, type)).release();
}
PyMethodDef kCounter = {"counter", counter, METH_O, nullptr};

PyRef itemOf(const Value& value) {
  return eagerHooks().item ? PyRef::steal(eagerHooks().item(value))
                           : raise(PyExc_SystemError, "tiletwin: eager mode is not set up");
}

/// The iterable of `for i in range(...)`: tensors of the type of rule 53, made one at a time.
PyObject* runTimeRange(PyObject* function, PyObject* args, PyObject* kwargs) {
  Builder* builder = builderOrError();
  llvm::SmallVector<PyRef> arguments;
  llvm::SmallVector<std::pair<PyObject*, PyRef>> keywords;
  for (PyObject* argument : itemsOf(args)) arguments.push_back(PyRef::borrow(argument));
  PyObject *key, *value;
  for (Py_ssize_t at = 0; kwargs && PyDict_Next(kwargs, &at, &key, &value);)
    keywords.emplace_back(key, PyRef::borrow(value));
  RangeArguments range;
  LoopBounds loop;
  if (!builder || !readRange(function, arguments, keywords, range) || !loopBounds(*builder, range, loop))
    return nullptr;
  PyRef numbers[3];
  for (int i = 0; i < 3; ++i)
    if (numbers[i] = itemOf(loop.values[i]); !numbers[i]) return nullptr;
  if (loop.backwards) {
    std::swap(numbers[0], numbers[1]);
    numbers[2] = PyRef::steal(PyNumber_Negative(numbers[2].get()));
  } else {
    int upwards = PyObject_RichCompareBool(numbers[2].get(), toPython(0).get(), Py_GT);
    int any = PyObject_RichCompareBool(numbers[0].get(), numbers[1].get(), Py_LT);
    if (upwards < 0 || any < 0) return nullptr;
    if (!upwards && any)
      return raiseValue("the step of this loop is " + std::to_string(PyLong_AsLongLong(numbers[2].get())) +
                        ", so it would never end; only a compile-time step may be negative");
    if (!upwards) numbers[1] = numbers[0]; // no iteration, as in compiled mode
    if (!upwards) numbers[2] = toPython(1);
  }
  PyRef values = call(reinterpret_cast<PyObject*>(&PyRange_Type), numbers[0], numbers[1], numbers[2]);
  PyRef dtype = values ? typeToPython(loop.type) : PyRef();
  PyRef make = PyRef::steal(dtype ? PyCFunction_NewEx(&kCounter, dtype.get(), nullptr) : nullptr);
  return call(reinterpret_cast<PyObject*>(&PyMap_Type), make, values).release();
}

/// loop(function, *args): the iterable of `for x in function(*args)`.
PyObject* loop(PyObject*, PyObject* args, PyObject* kwargs) {
  PyObject* function = PyTuple_GetItem(args, 0);
  PyRef rest = PyRef::steal(PyTuple_GetSlice(args, 1, PyTuple_Size(args)));
  if (!function || !rest) return nullptr;
  if (specialOf(unwrap(function)) == Special::Range) return runTimeRange(unwrap(function), rest.get(), kwargs);
  // tl.static_range gives compile-time ints; others as Python has them.
  return PyObject_Call(unwrap(function), rest.get(), kwargs);
}

// Carried variables.

/// What the loop's variables were when it began.
struct Carried {
  PyObject* name; ///< the site keeps it alive
  PyObject* line;
  Structure was;
};

/// A value that a compiled loop could carry, or a compile-time one. What a debugger put there (`!x = 0`) may be neither.
bool isLanguageValue(PyObject* value) {
  return isTensor(value) || isConstexpr(value) || (PyTuple_Check(value) && containsTensor(value));
}

/// What the calling frame's variables of the site hold. False with an error set.
bool takeTypes(PyObject* site, std::vector<Carried>& out) {
  out.clear();
  PyObject* names = PyTuple_GetItem(site, 5);
  PyObject* locals = names ? PyEval_GetLocals() : nullptr;
  if (!locals) return false;
  for (PyObject* row : itemsOf(names)) {
    PyRef value = PyRef::steal(PyObject_GetItem(locals, PyTuple_GetItem(row, 0)));
    PyErr_Clear();
    if (!value || !isLanguageValue(value.get())) continue;
    Carried entry{PyTuple_GetItem(row, 0), PyTuple_GetItem(row, 1), {}};
    if (!takeApart(value.get(), entry.was, nullptr)) return false;
    out.push_back(std::move(entry));
  }
  return true;
}

void raiseAtSite(PyObject* site) {
  const itemsOf parts(site);
  auto number = [&](size_t i) { return PyLong_AsLong(parts[i]); };
  locateError({stringOf(parts[0]), number(1), number(2), PyRef::borrow(parts[3]), number(4)});
}

/// Whether the variables still have the types they had. False with a CompilationError set.
bool checkTypes(PyObject* site, const std::vector<Carried>& carried) {
  PyObject* locals = carried.empty() ? nullptr : PyEval_GetLocals();
  for (const Carried& entry : carried) {
    PyRef value = PyRef::steal(PyObject_GetItem(locals, entry.name));
    PyErr_Clear();
    if (!value || !isLanguageValue(value.get())) continue;
    Structure now;
    if (!takeApart(value.get(), now, nullptr)) return false;
    if (now == entry.was) continue;
    const std::string name = stringOf(entry.name);
    const std::string where = " (line " + std::to_string(PyLong_AsLong(entry.line)) + ")";
    entry.was.hasTensor() ? raiseCarried(name, entry.was, now, where) : raiseCarriedConstant(name, where);
    raiseAtSite(site);
    return false;
  }
  return true;
}

/// Snapshots of `while` loops that this thread is in, by frame and site.
std::map<std::pair<PyObject*, PyObject*>, std::vector<Carried>>& whileLoops() {
  static thread_local auto* loops = new std::map<std::pair<PyObject*, PyObject*>, std::vector<Carried>>;
  return *loops;
}

PyObject* frameNow() { return reinterpret_cast<PyObject*>(PyEval_GetFrame()); }

/// In front of a `while`.
void enterWhile(PyObject* site) { whileLoops().erase({frameNow(), site}); }

/// Before each test of a `while`.
PyRef again(PyObject* site) {
  auto [entry, isFirst] = whileLoops().try_emplace({frameNow(), site});
  if (isFirst ? !takeTypes(site, entry->second) : !checkTypes(site, entry->second)) return {};
  return toPython(true);
}

/// The iterator of a `for` that carries variables.
struct Rounds {
  PyRef iterator, site;
  std::vector<Carried> carried{};
  bool first = true;
};
PyObject* nextRound(PyObject* self) {
  Rounds& state = Object<Rounds>::of(self);
  if (std::exchange(state.first, false) ? !takeTypes(state.site.get(), state.carried)
                                        : !checkTypes(state.site.get(), state.carried))
    return nullptr;
  return PyIter_Next(state.iterator.get());
}

PyObject* self(PyObject* object) { return PyRef::borrow(object).release(); }

/// What `for` runs over.
PyRef rounds(TupleArgument site, PyObject* iterable) {
  PyRef iterator = PyRef::steal(PyObject_GetIter(iterable));
  return iterator ? Object<Rounds>::make(std::move(iterator), PyRef::borrow(site.get())) : PyRef();
}

} // namespace

void forgetLoops() { whileLoops().clear(); }

bool addEagerLoops(PyObject* module) {
  return addType<Rounds>(nullptr, {.name = "tiletwin._C.rounds",
                                   .doc = nullptr,
                                   .slots = {slot(Py_tp_iter, self), slot(Py_tp_iternext, nextRound)}}) &&
         addFunctions(module,
                      {withKeywords("eager_loop", loop, "The iterable of a `for`."),
                       function<"eager_rounds", rounds>("The same, with a look at the types of what the loop carries."),
                       function<"eager_enter_while", enterWhile>("A `while` loop begins."),
                       function<"eager_again", again>("True; a look at the types of what a `while` loop carries.")});
}

} // namespace tiletwin::frontend
