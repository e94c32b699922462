// frontend/BuiltinObject.cpp -- the Python type builtin: binds a call's arguments to the signature of the declaration.
// Here:      the decorator, binding, dispatch to the C++ table or to the declaration's own Python body.
// Not here:  the table (Builtins.h), methods on tensors (python/tiletwin/language/).
#include "frontend/Builtins.h"
#include "frontend/ObjectSupport.h"
#include <structmember.h>

namespace tiletwin::frontend {
namespace {

enum class Kind : uint8_t { PositionalOnly, Positional, VarPositional, KeywordOnly, VarKeyword };
struct Parameter {
  std::string name;
  Kind kind;
  PyRef defaultValue; ///< null: required
};
struct BuiltinState {
  PyRef dict; ///< what Python sets on the declaration: __name__, __doc__, ...
  std::string name;
  PyRef function;
  bool python = false;
  std::vector<Parameter> parameters;
};
using BuiltinObject = Object<BuiltinState>;
BuiltinState& stateOf(PyObject* self) { return BuiltinObject::of(self); }

bool readSignature(PyObject* function, std::vector<Parameter>& out) {
  PyRef signature = call(imported("inspect", "signature"), function);
  PyRef empty = signature ? imported("inspect", "_empty") : PyRef();
  PyRef mapping = empty ? attribute(signature, "parameters") : PyRef();
  PyRef values = PyRef::steal(mapping ? PyMapping_Values(mapping.get()) : nullptr);
  if (!values) return false;
  for (PyObject* item : itemsOf(values)) {
    PyRef name = attribute(item, "name"), kind = attribute(item, "kind"), value = attribute(item, "default");
    if (!name || !kind || !value) return false;
    const std::string text = stringOf(name.get());
    const long number = PyLong_AsLong(kind.get());
    if (number == -1 && PyErr_Occurred()) return false;
    out.push_back({text, Kind(number), value.get() == empty.get() ? PyRef() : value});
  }
  return true;
}

/// Copies the declaration's name and docstring, so that help() and inspect.signature() show it.
bool dressUp(PyObject* self, PyObject* function) {
  for (const char* name : {"__name__", "__qualname__", "__module__", "__doc__", "__annotations__"}) {
    PyRef value = attributeIfAny(function, name);
    if (value && PyObject_SetAttrString(self, name, value.get()) < 0) return false;
  }
  return PyObject_SetAttrString(self, "__wrapped__", function) == 0;
}

PyObject* newBuiltin(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"function", "name", "python", nullptr};
  PyObject* function = Py_None;
  const char* name = nullptr;
  int python = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|Ozp:builtin", const_cast<char**>(names), &function, &name, &python))
    return nullptr;
  if (function == Py_None) { // @builtin(name=...): a decorator that remembers the options
    PyRef partial = imported("functools", "partial");
    PyRef positional = partial ? pyTuple(reinterpret_cast<PyObject*>(type)) : PyRef();
    return positional ? PyObject_Call(partial.get(), positional.get(), kwargs) : nullptr;
  }
  if (!PyCallable_Check(function)) return raiseType("builtin() decorates a function, got " + typeName(function));
  PyRef self = BuiltinObject::makeOf(type);
  if (!self || !readSignature(function, stateOf(self.get()).parameters) || !dressUp(self.get(), function))
    return nullptr;
  BuiltinState& state = stateOf(self.get());
  state.function = PyRef::borrow(function);
  state.python = python;
  state.name = name ? name : stringOf(attributeIfAny(function, "__name__").get());
  return self.release();
}

/// Keyword arguments that code written against other front ends passes along; they carry nothing here.
bool isIgnoredKeyword(llvm::StringRef name) {
  return name == "_semantic" || name == "_builder" || name == "_generator";
}

std::string signatureText(const BuiltinState& state) {
  std::string text;
  for (const Parameter& p : state.parameters)
    text += (text.empty() ? "" : ", ") +
            std::string(p.kind == Kind::VarPositional ? "*"
                        : p.kind == Kind::VarKeyword  ? "**"
                                                      : "") +
            p.name;
  return "tl." + state.name + "(" + text + ")";
}

/// One reference for each parameter, in order.
bool bindArguments(const BuiltinState& state, PyObject* args, PyObject* kwargs, llvm::SmallVectorImpl<PyRef>& bound) {
  Py_ssize_t given = PyTuple_Size(args), next = 0;
  bound.assign(state.parameters.size(), PyRef());
  for (auto [p, slot] : llvm::zip(state.parameters, bound)) {
    if (p.kind == Kind::VarPositional) {
      slot = PyRef::steal(PyTuple_GetSlice(args, next, given));
      next = given;
    } else if (p.kind == Kind::VarKeyword) {
      slot = PyRef::steal(PyDict_New());
    } else if (p.kind != Kind::KeywordOnly && next < given) {
      slot = PyRef::borrow(PyTuple_GetItem(args, next++));
    }
  }
  if (next < given)
    return raiseType(signatureText(state) + " takes at most " + llvm::Twine(next) + " positional arguments, got " +
                     llvm::Twine(given));
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t position = 0;
  while (kwargs && PyDict_Next(kwargs, &position, &key, &value)) {
    const char* text = PyUnicode_AsUTF8AndSize(key, nullptr);
    if (!text) return false;
    bool taken = false;
    for (auto [p, slot] : llvm::zip(state.parameters, bound)) {
      if (p.kind == Kind::VarPositional || p.kind == Kind::PositionalOnly || p.name != text) continue;
      if (p.kind == Kind::VarKeyword) continue;
      if (slot) return raiseType(signatureText(state) + " got argument '" + llvm::Twine(text) + "' twice");
      slot = PyRef::borrow(value);
      taken = true;
    }
    if (!taken && !state.parameters.empty() && state.parameters.back().kind == Kind::VarKeyword)
      taken = PyDict_SetItem(bound.back().get(), key, value) == 0;
    if (!taken && !isIgnoredKeyword(text))
      return raiseType(signatureText(state) + " got an unexpected keyword argument '" + llvm::Twine(text) + "'");
  }
  for (auto [p, slot] : llvm::zip(state.parameters, bound)) {
    if (!slot) slot = p.defaultValue;
    if (!slot) return raiseType(signatureText(state) + " is missing the argument '" + llvm::Twine(p.name) + "'");
  }
  return true;
}

PyObject* callPython(const BuiltinState& state, PyObject* args, PyObject* kwargs) {
  if (!kwargs) return PyObject_Call(state.function.get(), args, nullptr);
  PyRef kept = PyRef::steal(PyDict_Copy(kwargs));
  for (const char* name : {"_semantic", "_builder", "_generator"}) {
    bool wanted = llvm::any_of(state.parameters, [&](const Parameter& p) { return p.name == name; });
    if (kept && !wanted && PyDict_GetItemString(kept.get(), name) && PyDict_DelItemString(kept.get(), name) < 0)
      return nullptr;
  }
  return kept ? PyObject_Call(state.function.get(), args, kept.get()) : nullptr;
}

PyObject* callSlot(PyObject* self, PyObject* args, PyObject* kwargs) {
  if (Builder* builder = Builder::current()) return callBuiltin(self, args, kwargs, *builder).release();
  const BuiltinState& state = stateOf(self);
  if (state.python) return callPython(state, args, kwargs);
  return raise(PyExc_RuntimeError,
               "tl." + state.name + " works inside kernels only; no kernel is being compiled or run here");
}

PyObject* reprSlot(PyObject* self) { return PyUnicode_FromFormat("<builtin tl.%s>", stateOf(self).name.c_str()); }

PyRef names() { return pyList(builtinNames()); }
PyRef isPython(const BuiltinState& state) { return toPython(state.python); }

PyMemberDef kMembers[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(BuiltinObject, state) + offsetof(BuiltinState, dict), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

} // namespace

bool addBuiltinObject(PyObject* module) {
  return addType<BuiltinState>(
             module, {.name = "tiletwin._C.builtin",
                      .doc = "builtin(function, name=None, python=False): a function of the kernel language.",
                      .properties = {{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
                                     property<"python", isPython>("Whether the Python body is the implementation.")},
                      .slots = {slot(Py_tp_new, newBuiltin),
                                slot(Py_tp_call, callSlot),
                                slot(Py_tp_repr, reprSlot),
                                {Py_tp_members, kMembers}},
                      .flags = 0}) &&
         addFunctions(module, {function<"builtin_names", names>(
                                  "Names of the language functions that are implemented in C++, sorted.")});
}

bool isBuiltin(PyObject* object) { return BuiltinObject::is(object); }

PyRef callBuiltin(PyObject* builtin, PyObject* args, PyObject* kwargs, Builder& builder) {
  const BuiltinState& state = stateOf(builtin);
  Builder::Scope scope(&builder);
  if (state.python) return PyRef::steal(callPython(state, args, kwargs));
  llvm::SmallVector<PyRef> bound;
  if (!bindArguments(state, args, kwargs, bound)) return {};
  const BuiltinRow* row = findBuiltin(state.name);
  if (!row) return raiseNotImplemented("tl." + state.name + " is not implemented yet");
  llvm::SmallVector<PyObject*> borrowed;
  for (const PyRef& argument : bound) borrowed.push_back(argument.get());
  return row->build(builder, borrowed);
}

} // namespace tiletwin::frontend
