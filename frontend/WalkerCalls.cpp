// frontend/WalkerCalls.cpp -- calls in a kernel, by what is called.
// Builtins and jit functions get the values as they are; functions that work at compile time get plain Python values
// and their results become compile-time values. Plain Python functions are refused: their result would depend on the
// host.
#include "frontend/Builtins.h"
#include "frontend/PackageObject.h"
#include "frontend/ValueRules.h"
#include "frontend/Walker.h"

namespace tiletwin::frontend {
namespace {

/// Null without an error for no keywords: check PyErr_Occurred only where keywords were given.
PyRef dictOf(const Keywords& keywords) {
  if (keywords.empty()) return {};
  PyRef dict = pyDict();
  for (const auto& [name, value] : keywords)
    if (!dict || PyDict_SetItem(dict.get(), name, value.get()) < 0) return {};
  return dict;
}

bool anyTensor(const Arguments& arguments, const Keywords& keywords) {
  return llvm::any_of(arguments, [](const PyRef& a) { return containsTensor(a.get()); }) ||
         llvm::any_of(keywords, [](const auto& k) { return containsTensor(k.second.get()); });
}

/// For messages, also while an exception is set.
std::string nameOf(PyObject* callee) {
  const ErrorKept kept;
  PyRef name = attributeIfAny(callee, "__name__");
  return name ? stringOf(name.get()) : typeName(callee);
}

/// "numpy" of numpy.exp, for messages.
std::string packageOf(PyObject* callee) {
  std::string module = moduleNameOf(callee);
  if (module.empty()) module = moduleNameOf(typeOf(callee)); // np.exp is an object of class numpy.ufunc
  return llvm::StringRef(module).split('.').first.str();
}

/// "tl.exp" for math.exp, numpy.exp and torch.exp: what does to a kernel's values what a library's function does to
/// others. Empty if there is none.
std::string languageFunctionFor(PyObject* callee) {
  std::string name = nameOf(callee), package = packageOf(callee);
  if (package != "math" && package != "numpy" && package != "torch") return {};
  static constexpr std::pair<const char*, const char*> kModules[] = {{"language", "tl."}, {"libdevice", "libdevice."}};
  for (auto [object, prefix] : kModules) {
    PyRef found = attributeIfAny(packageObject(object).get(), name.c_str());
    if (found && PyCallable_Check(found.get())) return prefix + name;
  }
  return {};
}

bool isLanguageModule(llvm::StringRef name) {
  return name.starts_with("tiletwin.") || name == "tiletwin" || name.starts_with("triton.") || name == "triton";
}

/// min, len, ... by identity; null: none of them.
enum class PythonFunction : uint8_t { None, Min, Max, Print, Len, IsInstance, HasAttr, GetAttr, CompileTime };
PythonFunction pythonFunction(PyObject* callee) {
  static const llvm::DenseMap<PyObject*, PythonFunction> table = [] {
    static constexpr std::pair<const char*, PythonFunction> kRows[] = {
        {"min", PythonFunction::Min},
        {"max", PythonFunction::Max},
        {"print", PythonFunction::Print},
        {"len", PythonFunction::Len},
        {"isinstance", PythonFunction::IsInstance},
        {"hasattr", PythonFunction::HasAttr},
        {"getattr", PythonFunction::GetAttr},
        {"repr", PythonFunction::CompileTime},
        {"issubclass", PythonFunction::CompileTime},
    };
    llvm::DenseMap<PyObject*, PythonFunction> made;
    for (auto [name, function] : kRows)
      if (PyRef found = imported("builtins", name)) made[found.release()] = function;
    return made;
  }();
  return table.lookup_or(callee, PythonFunction::None);
}

} // namespace

bool Walker::evaluateArguments(Ast call, Arguments& arguments, Keywords& keywords) {
  for (Ast node : itemsOf(call.args())) {
    if (!node.isStarred()) {
      arguments.push_back(evaluate(node));
      if (!arguments.back()) return false;
      continue;
    }
    PyRef many = evaluate(node.value());
    if (!many) return false;
    PyObject* tuple = unwrap(many.get());
    if (!PyTuple_Check(tuple)) return refuse(node, "f(*x) needs a tuple; x is a " + typeName(tuple));
    for (PyObject* item : itemsOf(tuple)) arguments.push_back(wrapConstant(item));
  }
  for (Ast keyword : itemsOf(call.keywords())) {
    if (keyword.arg().isNone()) return refuse(keyword, "f(**x) is not supported in kernels: name the arguments");
    PyRef value = evaluate(keyword.value());
    if (!value) return false;
    keywords.emplace_back(keyword.arg(), std::move(value));
  }
  return true;
}

PyRef Walker::callCompileTime(PyObject* callee, const Arguments& arguments, const Keywords& keywords) {
  // A user's own constexpr function may look at types and shapes of run-time values, and at fields of aggregates.
  bool mayLook = calleeKind(callee) == CalleeKind::ConstexprFunction && !isLanguageModule(moduleNameOf(callee));
  if (!mayLook && anyTensor(arguments, keywords)) {
    std::string name = nameOf(callee);
    std::string own = languageFunctionFor(callee);
    return raiseType(name + "() " + (own.empty() ? "" : "of " + packageOf(callee) + " ") +
                     "works on compile-time values only, and one of its arguments is a run-time value. " +
                     (own.empty() ? "Make it a tl.constexpr, or write the function with @triton.jit" : "Use " + own));
  }
  PyRef args = pyTupleFrom(arguments, [](const PyRef& argument) { return unwrapDeep(argument.get()); });
  Keywords plain;
  for (const auto& [name, value] : keywords) plain.emplace_back(name, unwrapDeep(value.get()));
  PyRef kwargs = dictOf(plain);
  if (!args || (!kwargs && !plain.empty())) return {};
  return wrapConstant(PyRef::steal(PyObject_Call(callee, args.get(), kwargs.get())));
}

PyRef Walker::callMinMax(PyObject* callee, const Arguments& arguments, bool isMin) {
  Arguments values = arguments;
  if (values.size() == 1 && PyTuple_Check(unwrap(values[0].get()))) {
    PyRef tuple = PyRef::borrow(unwrap(values[0].get()));
    values.clear();
    for (PyObject* item : itemsOf(tuple)) values.push_back(wrapConstant(item));
  }
  if (!anyTensor(values, {})) return callCompileTime(callee, arguments, {});
  if (values.size() < 2)
    return raiseType(llvm::Twine(isMin ? "min" : "max") + "(x) of one tensor: use tl." + (isMin ? "min" : "max") +
                     "(x, axis)");
  PyRef function = languageFunction(isMin ? "minimum" : "maximum");
  PyRef result = values[0];
  for (size_t i = 1; function && result && i < values.size(); ++i) {
    PyRef pair = pyTuple(result, values[i]);
    result = pair ? callBuiltin(function.get(), pair.get(), nullptr, builder_) : PyRef();
  }
  return function ? result : PyRef();
}

PyRef Walker::callPrint(Arguments& arguments, Keywords& keywords) {
  PyRef function = languageFunction("device_print");
  // print(x) without a text: the printed values stand alone.
  if (function && (arguments.empty() || !PyUnicode_Check(unwrap(arguments[0].get()))))
    arguments.insert(arguments.begin(), makeConstexpr(toPython("").get()));
  PyRef args = function ? pyTupleFrom(arguments) : PyRef(), kwargs = dictOf(keywords);
  return args ? callBuiltin(function.get(), args.get(), kwargs.get(), builder_) : PyRef();
}

PyRef Walker::callClass(PyObject* cls, Arguments& arguments, Keywords& keywords) {
  static PyObject* const constexprClass = typeOf(makeConstexpr(Py_None).release());
  if (cls == constexprClass) {
    if (arguments.size() != 1) return raiseType("tl.constexpr takes one value");
    return isTensor(arguments[0].get()) || PyTuple_Check(arguments[0].get())
               ? arguments[0]
               : makeConstexpr(unwrap(arguments[0].get()));
  }
  bool isTuple = cls == reinterpret_cast<PyObject*>(&PyTuple_Type) || cls == reinterpret_cast<PyObject*>(&PyList_Type);
  if (isTuple && arguments.size() <= 1) {
    if (arguments.empty()) return makeTuple({});
    if (PyTuple_Check(unwrap(arguments[0].get()))) return wrapConstant(unwrap(arguments[0].get()));
    return raiseType("tuple() takes a tuple in kernels, not a " + typeName(unwrap(arguments[0].get())));
  }
  for (PyTypeObject* number : {&PyLong_Type, &PyFloat_Type, &PyBool_Type, &PyUnicode_Type})
    if (cls == reinterpret_cast<PyObject*>(number)) {
      if (anyTensor(arguments, keywords) && number != &PyUnicode_Type)
        return raiseType(nameOf(cls) +
                         "() makes a compile-time number and cannot take a run-time value; convert with x.to(" +
                         (number == &PyLong_Type    ? "tl.int32"
                          : number == &PyFloat_Type ? "tl.float32"
                                                    : "tl.int1") +
                         ")");
      return callCompileTime(cls, arguments, keywords);
    }
  if (cls == reinterpret_cast<PyObject*>(&PyType_Type) && arguments.size() == 1)
    return PyRef::borrow(typeOf(unwrap(arguments[0].get())));
  if (specialOf(cls) == Special::Range || specialOf(cls) == Special::StaticRange)
    return raiseType("a range can only be what a `for` loop runs over");
  // Named tuples, aggregates and classes of the language are made of values as they are.
  bool isValueClass = PyObject_HasAttrString(cls, "_fields") || PyObject_HasAttrString(cls, "__tiletwin_fields__") ||
                      isLanguageModule(moduleNameOf(cls));
  if (!isValueClass)
    return raiseType("the class " + nameOf(cls) +
                     " cannot be used in a kernel: NamedTuple and @triton.aggregate classes can");
  PyRef args = pyTupleFrom(arguments), kwargs = dictOf(keywords);
  PyRef made = args ? PyRef::steal(PyObject_Call(cls, args.get(), kwargs.get())) : PyRef();
  if (!made || !PyTuple_Check(made.get())) return made;
  // Defaults of a named tuple's fields are plain numbers.
  if (!PyObject_HasAttrString(cls, "_fields")) return made;
  PyRef items = pyTupleFrom(itemsOf(made), [](PyObject* item) { return wrapConstant(item); });
  return PyRef::steal(items ? PyObject_Call(cls, items.get(), nullptr) : nullptr);
}

PyRef Walker::callValue(PyObject* callee, Arguments& arguments, Keywords& keywords) {
  switch (calleeKind(callee)) {
  case CalleeKind::Builtin: {
    PyRef args = pyTupleFrom(arguments), kwargs = dictOf(keywords);
    return args ? wrapConstant(callBuiltin(callee, args.get(), kwargs.get(), builder_)) : PyRef();
  }
  case CalleeKind::Jit: return callJit(builder_, callee, arguments, keywords);
  case CalleeKind::ConstexprFunction: return callCompileTime(callee, arguments, keywords);
  case CalleeKind::Dtype: return callDtype(builder_, callee, arguments);
  case CalleeKind::Class: return callClass(callee, arguments, keywords);
  case CalleeKind::Module: return raiseType("the module " + nameOf(callee) + " is not a function");
  case CalleeKind::PythonFunction:
  case CalleeKind::Other: break;
  }
  switch (pythonFunction(callee)) {
  case PythonFunction::Min: return callMinMax(callee, arguments, true);
  case PythonFunction::Max: return callMinMax(callee, arguments, false);
  case PythonFunction::Print: return callPrint(arguments, keywords);
  case PythonFunction::Len:
    if (arguments.size() == 1 && PyTuple_Check(unwrap(arguments[0].get())))
      return makeConstexpr(toPython(itemsOf(unwrap(arguments[0].get())).size()).get());
    if (arguments.size() == 1 && isTensor(arguments[0].get()))
      return raiseType("len() of a tensor is not defined in kernels; use x.shape[0], or len(x.shape) for the rank");
    return callCompileTime(callee, arguments, keywords);
  case PythonFunction::IsInstance:
  case PythonFunction::HasAttr:
  case PythonFunction::GetAttr: {
    // These look at the value itself: a tensor is an instance of tl.tensor, a compile-time number of int and not of
    // tl.constexpr.
    if (arguments.size() < 2) break;
    PyRef second = unwrapDeep(arguments[1].get());
    if (pythonFunction(callee) == PythonFunction::IsInstance) {
      int is = PyObject_IsInstance(unwrap(arguments[0].get()), second.get());
      return is < 0 ? PyRef() : makeConstexpr(is ? Py_True : Py_False);
    }
    PyObject* object = unwrap(arguments[0].get());
    PyRef found = attribute(object, second.get());
    if (pythonFunction(callee) == PythonFunction::HasAttr) {
      PyErr_Clear();
      return makeConstexpr(found ? Py_True : Py_False);
    }
    if (!found && arguments.size() > 2) {
      PyErr_Clear();
      return arguments[2];
    }
    return wrapConstant(found);
  }
  case PythonFunction::CompileTime: return callCompileTime(callee, arguments, keywords);
  case PythonFunction::None: break;
  }
  // Methods of compile-time objects ("a".upper(), dtype.is_floating()), and helpers of the language package.
  if (PyRef self = attributeIfAny(callee, "__self__")) {
    PyRef function = attributeIfAny(callee, "__func__");
    if (isTensor(self.get()) && !function) { // one of the type's own: x.logical_and(y); x.numpy(), which has no values
      PyRef given = makeTuple(arguments);
      return PyRef::steal(given ? PyObject_CallObject(callee, given.get()) : nullptr);
    }
    // A method taken off a tensor (f = x.sum) or an aggregate earlier.
    if (isTensor(self.get()) || (function && calleeKind(function.get()) == CalleeKind::Jit)) {
      arguments.insert(arguments.begin(), self);
      return callValue(function.get(), arguments, keywords);
    }
    bool isMath = moduleNameOf(callee) == "math" || moduleNameOf(callee) == "_operator";
    if (calleeKind(self.get()) != CalleeKind::Module || self.get() == Py_None || isMath)
      return callCompileTime(callee, arguments, keywords);
  }
  if (isLanguageModule(moduleNameOf(callee))) return callCompileTime(callee, arguments, keywords);
  if (!PyCallable_Check(callee)) return raiseType("this is not a function: it is a " + typeName(callee));
  if (std::string own = languageFunctionFor(callee); !own.empty())
    return raiseType(nameOf(callee) + "() of " + packageOf(callee) + " cannot take a kernel's values: use " + own);
  return raiseType(
      nameOf(callee) +
      "() is a plain Python function, which a kernel cannot call: decorate it with @triton.jit to run it on "
      "tensors, or with @triton.constexpr_function to compute compile-time values");
}

bool Walker::resultIsUsed(Ast node, PyObject* callee) {
  if (node != unusedCall_) return true;
  static PyObject* const name = interned("_must_use_result");
  PyRef wanted = attributeIfAny(callee, name);
  if (!wanted || isTensor(wanted.get()) || PyObject_IsTrue(wanted.get()) != 1) return true;
  PyRef text = call(imported("ast", "unparse"), node.func());
  std::string own = PyUnicode_Check(wanted.get()) ? " " + stringOf(wanted.get()) : "";
  return text &&
         refuse(node, "The result of " + stringOf(text.get()) + " is not being used." + own, ErrorClass::Compilation);
}

PyRef Walker::visitCall(Ast node) {
  const Ast func = node.func();
  PyRef callee;
  Arguments arguments;
  if (func.isAttribute()) {
    PyRef base = evaluate(func.value());
    if (!base) return {};
    // Methods: a builtin or jit function on the type gets the value as its first argument.
    CalleeKind baseKind = isConstexpr(base.get()) ? CalleeKind::Other : calleeKind(base.get());
    if (baseKind == CalleeKind::Other && !isConstexpr(base.get())) {
      callee = attributeIfAny(typeOf(base.get()), func.attr());
      CalleeKind kind = callee ? calleeKind(callee.get()) : CalleeKind::Other;
      if (kind == CalleeKind::Builtin || kind == CalleeKind::Jit || kind == CalleeKind::ConstexprFunction)
        arguments.push_back(base);
      else
        callee = {};
    }
    if (!callee) callee = attributeOf(base.get(), func.attr());
    if (!callee) return locateError(place(func)), PyRef();
  } else if (!(callee = evaluate(func))) {
    return {};
  }
  PyRef target = PyRef::borrow(unwrap(callee.get()));
  if (!resultIsUsed(node, target.get())) return {};
  Keywords keywords;
  const ProbeKind probe = probeKind(target.get());
  probeDepth_ += probe == ProbeKind::Print;
  const bool evaluated = evaluateArguments(node, arguments, keywords);
  probeDepth_ -= probe == ProbeKind::Print;
  if (!evaluated) return {};
  builder_.setLocation(locationOf(node));
  if (probe != ProbeKind::None) return callProbe(probe, arguments, keywords);
  // tl.constexpr around a Python function says that it may be called, on compile-time values.
  bool vouchedFor = isConstexpr(callee.get()) && calleeKind(target.get()) == CalleeKind::PythonFunction;
  PyRef result =
      vouchedFor ? callCompileTime(target.get(), arguments, keywords) : callValue(target.get(), arguments, keywords);
  // An error with a position comes from inside the callee: say where it was called.
  if (!result && errorIsLocated()) chainError(place(node), nameOf(target.get()));
  return result;
}

} // namespace tiletwin::frontend
