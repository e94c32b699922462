// frontend/WalkerProbes.cpp -- tiletwin.print_if and breakpoint_if in compiled mode: an operation that hands out values.
// Here:      their arguments, f-strings of run-time values, the variables that a breakpoint shows.
// Not here:  what is printed and how a debugger is started (python/src/ProbeCalls.cpp, python/tiletwin/debug.py).
// Invariant: the call changes no value of the kernel; a condition that is false while compiling leaves no trace.
#include "frontend/Emit.h"
#include "frontend/PackageObject.h"
#include "frontend/Probes.h"
#include "frontend/ValueRules.h"
#include "frontend/Walker.h"

namespace tiletwin::frontend {
namespace {

/// Scalars, tiles and pointers: what an operand of tt.probe_call may be.
bool canBeShown(const Structure& structure) {
  if (structure.kind == Structure::Kind::Tensor) return !structure.type.descriptor;
  return llvm::all_of(structure.items, canBeShown);
}

/// The condition as i1, one lane or several. Null without an error: it never holds.
Value conditionOf(Builder& b, PyObject* condition, const char* function) {
  PyObject* plain = unwrap(condition);
  if (isTensor(plain)) {
    const Value& value = tensorValue(plain);
    return value.type.isBool() ? value : cast(b, value, scalarType(Scalar::I1));
  }
  if (PyTuple_Check(plain) || PyUnicode_Check(plain))
    return raiseType(llvm::Twine(function) + ": the condition is a number or a tensor, got " + described(plain));
  int truth = PyObject_IsTrue(plain);
  return truth > 0 ? toTensor(b, Py_True) : Value();
}

} // namespace

ProbeKind probeKind(PyObject* callee) {
  static PyObject* const print = packageObject("print_if").release();
  static PyObject* const stop = packageObject("breakpoint_if").release();
  if (!print || !stop) PyErr_Clear();
  return !print || (callee != print && callee != stop) ? ProbeKind::None
         : callee == print                             ? ProbeKind::Print
                                                       : ProbeKind::Break;
}

PyRef Walker::callProbe(ProbeKind kind, Arguments& arguments, Keywords& keywords) {
  const bool isBreak = kind == ProbeKind::Break;
  const char* function = isBreak ? "breakpoint_if" : "print_if";
  PyRef condition, options = pyDict();
  if (!options) return {};
  if (!arguments.empty()) {
    condition = arguments.front();
    arguments.erase(arguments.begin());
  }
  for (const auto& [name, value] : keywords) {
    std::string text = stringOf(name);
    if (text == "condition" && !condition) {
      condition = value;
      continue;
    }
    if (isBreak || (text != "sep" && text != "end" && text != "file" && text != "flush"))
      return raiseType(llvm::Twine(function) + "() has no argument '" + text + "'");
    if (containsTensor(value.get()))
      return raiseType("print_if: " + text + " is a value known while compiling, as in Python's print");
    PyRef plain = unwrapDeep(value.get());
    if (!plain || PyDict_SetItem(options.get(), name, plain.get()) < 0) return {};
  }
  if (!condition) return raiseType(llvm::Twine(function) + "() needs a condition");
  if (isBreak && !arguments.empty()) return raiseType("breakpoint_if() takes the condition alone");
  Value holds = conditionOf(builder_, condition.get(), function);
  if (!holds) return PyErr_Occurred() ? PyRef() : makeConstexpr(Py_None);

  ProbeRecipe recipe;
  llvm::SmallVector<PyRef> values, names;
  if (isBreak) {
    for (const auto& [name, value] : locals_.entries) {
      Structure structure;
      if (!value || !takeApart(value.get(), structure, nullptr)) continue;
      if (!canBeShown(structure)) continue;
      names.push_back(PyRef::borrow(name));
      values.push_back(value);
    }
    PyErr_Clear();
    recipe.view = pyTuple(info_->name, info_->globals, pyTupleFrom(names));
    if (!recipe.view) return {};
  } else {
    values.assign(arguments.begin(), arguments.end());
    if (PyDict_Size(options.get()) > 0) recipe.keywords = options;
  }
  PyRef tuple = pyTupleFrom(values);
  llvm::SmallVector<Value> operands{holds};
  if (!tuple || !takeApart(tuple.get(), recipe.values, &operands)) return {};
  if (!canBeShown(recipe.values))
    return raiseType(
        "print_if cannot show a tensor descriptor or a block pointer: print a block that you load with it, "
        "or its .shape");
  llvm::SmallVector<int32_t> isSigned;
  for (const Value& value : llvm::ArrayRef<Value>(operands).drop_front()) isSigned.push_back(value.type.isSigned());
  std::vector<ProbeRecipe>& probes = builder_.probes();
  bool done = emit(builder_, "tt.probe_call", operands,
                   {string(builder_, "callee", function), integer(builder_, "site", int64_t(probes.size())),
                    integers(builder_, "isSigned", isSigned)});
  if (!done) return {};
  probes.push_back(std::move(recipe));
  return makeConstexpr(Py_None);
}

PyRef Walker::formattedText(llvm::ArrayRef<PyRef> parts) {
  return call(packageObject("FormattedText"), pyTupleFrom(parts));
}

} // namespace tiletwin::frontend
