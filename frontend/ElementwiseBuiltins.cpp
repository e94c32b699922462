// frontend/ElementwiseBuiltins.cpp -- arithmetic with options, choice between values: add, where, maximum, clamp, ...
// Here:      rules 12, 17 and 40.
// Not here:  the operators (BinaryOps.cpp), elementary functions (MathBuiltins.cpp).
#include "frontend/Builtins.h"
#include "frontend/Emit.h"

namespace tiletwin::frontend {
namespace {

template <BinaryOp op> PyRef buildSanitized(Builder& b, llvm::ArrayRef<PyObject*> args) {
  bool sanitize = true;
  if (!constantBool(args[2], "sanitize_overflow", sanitize)) return {};
  return result(binary(b, op, args[0], args[1], sanitize));
}
template <BinaryOp op> PyRef buildLogical(Builder& b, llvm::ArrayRef<PyObject*> args) {
  return result(binary(b, op, args[0], args[1]));
}

/// tl.PropagateNan, its value, or a bool: true for ALL.
bool propagateNan(PyObject* arg, bool& all) {
  all = false;
  PyObject* plain = unwrap(arg);
  if (plain == Py_None) return true;
  PyRef value = PyLong_Check(plain) ? PyRef::borrow(plain) : PyRef::steal(PyObject_GetAttrString(plain, "value"));
  if (!value || !PyLong_Check(value.get())) {
    PyErr_Clear();
    return raiseType("propagate_nan must be tl.PropagateNan.NONE or tl.PropagateNan.ALL, got " + typeName(plain));
  }
  all = PyObject_IsTrue(value.get()) == 1;
  return true;
}

// where(condition, x, y)
PyRef buildWhere(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value condition = tensorArgument(b, args[0], "tl.where: condition"), x, y;
  if (!condition) return {};
  if (!condition.type.isBool()) {
    std::string text = "tl.where: the condition has type " + condition.type.str() +
                       " and is compared with 0; write condition != 0 to say so";
    if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) < 0 ||
        !(condition = cast(b, condition, scalarType(Scalar::I1))))
      return {};
  }
  return promoteOperands(b, args[1], args[2], false, x, y, /*pointers=*/true) ? result(select(b, condition, x, y))
                                                                              : PyRef();
}

Value extremum(Builder& b, bool larger, bool nanWins, PyObject* lhs, PyObject* rhs) {
  Value x, y;
  if (!promoteOperands(b, lhs, rhs, false, x, y) || !broadcastTogether(b, x, y)) return raised();
  if (!checkComputes(x.type, larger ? "tl.maximum" : "tl.minimum")) return raised();
  llvm::StringRef name;
  if (x.type.isFloat())
    name = nanWins ? (larger ? "arith.maximumf" : "arith.minimumf") : (larger ? "arith.maxnumf" : "arith.minnumf");
  else if (x.type.isSigned())
    name = larger ? "arith.maxsi" : "arith.minsi";
  else
    name = larger ? "arith.maxui" : "arith.minui";
  return b.create1(name, {x, y}, x.type);
}
template <bool larger> PyRef buildExtremum(Builder& b, llvm::ArrayRef<PyObject*> args) {
  bool nanWins = false;
  return propagateNan(args[2], nanWins) ? result(extremum(b, larger, nanWins, args[0], args[1])) : PyRef();
}

// builtin_max(*args, propagate_nan): Python's max and min inside a kernel.
template <bool larger> PyRef buildExtremumOfMany(Builder& b, llvm::ArrayRef<PyObject*> args) {
  llvm::SmallVector<PyRef> items;
  bool nanWins = false;
  if (!sequenceItems(args[0], "arguments", items) || !propagateNan(args[1], nanWins)) return {};
  const char* name = larger ? "max" : "min";
  if (items.size() == 1) {
    PyRef only = std::exchange(items, {})[0];
    oneOrItems(only.get(), items);
  }
  if (items.empty()) return raiseType(llvm::Twine(name) + "() needs at least one argument");
  PyRef best = items[0];
  for (const PyRef& item : llvm::ArrayRef<PyRef>(items).drop_front()) {
    if (isTensor(best.get()) || isTensor(item.get())) {
      best = result(extremum(b, larger, nanWins, best.get(), item.get()));
      if (!best) return {};
      continue;
    }
    int better = PyObject_RichCompareBool(unwrap(item.get()), unwrap(best.get()), larger ? Py_GT : Py_LT);
    if (better < 0) return {};
    if (better) best = item;
  }
  return makeConstexpr(best.get());
}

/// Three operands of one type and shape.
bool promoteThree(Builder& b, llvm::ArrayRef<PyObject*> args, Value& x, Value& y, Value& z) {
  // Pairwise: the second and third with each other's result, the first with both. Numbers stay weak against every
  // tensor.
  PyRef parts[3] = {PyRef::borrow(unwrap(args[0])), PyRef::borrow(unwrap(args[1])), PyRef::borrow(unwrap(args[2]))};
  Value values[3];
  for (auto [i, j] : {std::pair(1, 2), std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)}) {
    bool numbers = !isTensor(parts[i].get()) && !isTensor(parts[j].get());
    if (numbers && (isTensor(parts[0].get()) || isTensor(parts[1].get()) || isTensor(parts[2].get())))
      continue; // both will be weak against the third
    if (!promoteOperands(b, parts[i].get(), parts[j].get(), false, values[i], values[j])) return false;
    parts[i] = makeTensor(values[i]);
    parts[j] = makeTensor(values[j]);
  }
  x = values[0], y = values[1], z = values[2];
  return broadcastTogether(b, y, z) && broadcastTogether(b, x, y) && broadcastTogether(b, x, z);
}

// clamp(x, min, max, propagate_nan)
PyRef buildClamp(Builder& b, llvm::ArrayRef<PyObject*> args) {
  bool nanStays = false;
  Value x, low, high;
  if (!propagateNan(args[3], nanStays) || !promoteThree(b, args.take_front(3), x, low, high) ||
      !checkComputes(x.type, "tl.clamp"))
    return {};
  if (x.type.isFloat())
    return result(b.create1("tt.clampf", {x, low, high}, x.type, integer(b, "propagateNan", nanStays ? 0xffff : 0)));
  if (!x.type.isInt()) return raiseType("tl.clamp takes numbers, got " + x.type.str());
  bool isSigned = x.type.isSigned();
  Value bounded = b.create1(isSigned ? "arith.maxsi" : "arith.maxui", {x, low}, x.type);
  return result(bounded ? b.create1(isSigned ? "arith.minsi" : "arith.minui", {bounded, high}, x.type) : bounded);
}

// fma(x, y, z)
PyRef buildFma(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value x, y, z;
  if (!promoteThree(b, args, x, y, z) || !checkComputes(x.type, "tl.fma")) return {};
  if (!x.type.isFloat())
    return raiseType("tl.fma takes floats, got " + x.type.str() + "; write x * y + z for integers");
  return result(b.create1("math.fma", {x, y, z}, x.type));
}

constexpr BuiltinRow kRows[] = {
    {"add", buildSanitized<BinaryOp::Add>},
    {"builtin_max", buildExtremumOfMany<true>},
    {"builtin_min", buildExtremumOfMany<false>},
    {"clamp", buildClamp},
    {"fma", buildFma},
    {"logical_and", buildLogical<BinaryOp::LogicalAnd>},
    {"logical_or", buildLogical<BinaryOp::LogicalOr>},
    {"maximum", buildExtremum<true>},
    {"minimum", buildExtremum<false>},
    {"mul", buildSanitized<BinaryOp::Mul>},
    {"sub", buildSanitized<BinaryOp::Sub>},
    {"where", buildWhere},
};

} // namespace

llvm::ArrayRef<BuiltinRow> elementwiseBuiltins() { return kRows; }

} // namespace tiletwin::frontend
