// frontend/EagerLoops.cpp -- loops of eager mode: what a `for` runs over, and the types that loops carry (rule 52).
// Not here:  the rewrite that inserts the calls (python/tiletwin/eager/rewriter.py), other statements (EagerSupport.cpp).
// Idea:      a loop's site is a constant tuple (file, line, column, source line, the function's first line, ((name, line),
//            ...)) with the variables that its body assigns. Their types are taken when the loop begins, and compared
//            before each further round. The variables are read from the locals of the frame that calls.
// Invariant: no name is added to the frame, and no line is executed that is not the user's.
#include "frontend/CompilationError.h"
#include "frontend/EagerSupport.h"
#include "frontend/LoopRange.h"
#include "frontend/ObjectSupport.h"
#include "frontend/Raise.h"
#include "frontend/Structure.h"
#include "frontend/Walker.h"
#include <map>

namespace tiletwin::frontend {
namespace {

PyObject* tensorOrNull(const Value& value) { return value ? makeTensor(value).release() : nullptr; }

/// counter(i), with the loop's dtype as self: one value of a loop's variable.
PyObject* counter(PyObject* dtype, PyObject* number) {
  Type type;
  Builder* builder = builderOrError();
  if (!builder || !typeFromPython(dtype, type)) return nullptr;
  return tensorOrNull(numberAs(*builder, number, type));
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
  for (Py_ssize_t i = 0; i < PyTuple_Size(args); ++i) arguments.push_back(PyRef::borrow(PyTuple_GetItem(args, i)));
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
    PyRef zero = PyRef::steal(PyLong_FromLong(0));
    int upwards = PyObject_RichCompareBool(numbers[2].get(), zero.get(), Py_GT);
    int any = PyObject_RichCompareBool(numbers[0].get(), numbers[1].get(), Py_LT);
    if (upwards < 0 || any < 0) return nullptr;
    if (!upwards && any)
      return raiseValue("the step of this loop is " + std::to_string(PyLong_AsLongLong(numbers[2].get())) +
                        ", so it would never end; only a compile-time step may be negative");
    if (!upwards) numbers[1] = numbers[0]; // no iteration, as in compiled mode
    if (!upwards) numbers[2] = PyRef::steal(PyLong_FromLong(1));
  }
  PyRef values = PyRef::steal(PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(&PyRange_Type), numbers[0].get(),
                                                           numbers[1].get(), numbers[2].get(), nullptr));
  PyRef dtype = values ? typeToPython(loop.type) : PyRef();
  PyRef make = dtype ? PyRef::steal(PyCFunction_NewEx(&kCounter, dtype.get(), nullptr)) : PyRef();
  return make
             ? PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(&PyMap_Type), make.get(), values.get(), nullptr)
             : nullptr;
}

/// loop(function, *args): the iterable of `for x in function(*args)`.
PyObject* loop(PyObject*, PyObject* args, PyObject* kwargs) {
  PyObject* function = PyTuple_GetItem(args, 0);
  PyRef rest = PyRef::steal(PyTuple_GetSlice(args, 1, PyTuple_Size(args)));
  if (!function || !rest) return nullptr;
  if (specialOf(unwrap(function)) == Special::Range) return runTimeRange(unwrap(function), rest.get(), kwargs);
  return PyObject_Call(unwrap(function), rest.get(),
                       kwargs); // tl.static_range gives compile-time ints; others as Python has them
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
  for (Py_ssize_t i = 0; i < PyTuple_Size(names); ++i) {
    PyObject* row = PyTuple_GetItem(names, i);
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
  auto text = [&](int i) {
    const char* utf8 = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(site, i), nullptr);
    return std::string(utf8 ? utf8 : "");
  };
  auto number = [&](int i) { return PyLong_AsLong(PyTuple_GetItem(site, i)); };
  locateError({text(0), number(1), number(2), PyRef::borrow(PyTuple_GetItem(site, 3)), number(4)});
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
    const char* name = PyUnicode_AsUTF8AndSize(entry.name, nullptr);
    const std::string where = " (line " + std::to_string(PyLong_AsLong(entry.line)) + ")";
    entry.was.hasTensor() ? raiseCarried(name ? name : "?", entry.was, now, where)
                          : raiseCarriedConstant(name ? name : "?", where);
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

/// enter_while(site), in front of a `while`.
PyObject* enterWhile(PyObject*, PyObject* site) {
  whileLoops().erase({frameNow(), site});
  return none();
}

/// again(site), before each test of a `while`.
PyObject* again(PyObject*, PyObject* site) {
  auto [entry, isFirst] = whileLoops().try_emplace({frameNow(), site});
  if (isFirst ? !takeTypes(site, entry->second) : !checkTypes(site, entry->second)) return nullptr;
  return PyRef::borrow(Py_True).release();
}

/// The iterator of a `for` that carries variables.
struct RoundsState {
  PyRef iterator, site;
  std::vector<Carried> carried{};
  bool first = true;
};
struct RoundsObject {
  PyObject_HEAD RoundsState state;
};
PyTypeObject* roundsType = nullptr;

PyObject* nextRound(PyObject* self) {
  RoundsState& state = reinterpret_cast<RoundsObject*>(self)->state;
  if (std::exchange(state.first, false) ? !takeTypes(state.site.get(), state.carried)
                                        : !checkTypes(state.site.get(), state.carried))
    return nullptr;
  return PyIter_Next(state.iterator.get());
}

PyObject* self(PyObject* object) { return PyRef::borrow(object).release(); }

/// rounds(site, iterable): what `for` runs over.
PyObject* rounds(PyObject*, PyObject* args) {
  PyObject *site, *iterable;
  if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &site, &iterable)) return nullptr;
  PyRef iterator = PyRef::steal(PyObject_GetIter(iterable));
  if (!iterator) return nullptr;
  return allocateObject<RoundsObject>(roundsType, std::move(iterator), PyRef::borrow(site));
}

PyType_Slot kRoundsSlots[] = {
    slot(Py_tp_dealloc, deallocateObject<RoundsObject>),
    slot(Py_tp_iter, self),
    slot(Py_tp_iternext, nextRound),
    {0, nullptr},
};
PyType_Spec kRoundsSpec = {"tiletwin._C.rounds", sizeof(RoundsObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, kRoundsSlots};

} // namespace

void forgetLoops() { whileLoops().clear(); }

int addEagerLoops(PyObject* module) {
  static PyMethodDef functions[] = {
      {"eager_loop", withKeywords(loop), METH_VARARGS | METH_KEYWORDS, "The iterable of a `for`."},
      {"eager_rounds", rounds, METH_VARARGS, "The same, with a look at the types of what the loop carries."},
      {"eager_enter_while", enterWhile, METH_O, "A `while` loop begins."},
      {"eager_again", again, METH_O, "True; a look at the types of what a `while` loop carries."},
      {nullptr, nullptr, 0, nullptr},
  };
  roundsType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&kRoundsSpec));
  return roundsType ? PyModule_AddFunctions(module, functions) : -1;
}

} // namespace tiletwin::frontend
