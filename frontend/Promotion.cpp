// frontend/Promotion.cpp -- the type that an operation computes in, and operands brought to it (rules 1 to 10).
// Here:      kinds, the lattice of element types, compile-time numbers and when they are weak.
// Not here:  the conversions (Casts.cpp), shapes (Broadcast.cpp).
// Invariant: a number that takes a tensor's type is emitted in that type at once, never converted at run time.
#include "frontend/Emit.h"
#include "frontend/Raise.h"
#include "frontend/Semantic.h"
#include <cmath>

namespace tiletwin::frontend {
namespace {

enum class NumberKind : uint8_t { Bool, Int, Float };
struct Number {
  NumberKind kind;
  __int128 integer = 0;
  double real = 0;
  bool tooLarge = false; ///< an int outside 64 bits
};

bool readNumber(PyObject* object, Number& out) {
  object = unwrap(object);
  if (PyBool_Check(object)) {
    out.kind = NumberKind::Bool;
    out.integer = object == Py_True;
    out.real = double(out.integer);
    return true;
  }
  if (PyLong_Check(object) || (PyIndex_Check(object) && !isTensor(object))) {
    PyRef index = PyRef::steal(PyNumber_Index(object));
    if (!index) return false;
    out.kind = NumberKind::Int;
    int overflow = 0;
    long long small = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
    out.integer = small;
    if (overflow > 0) {
      unsigned long long large = PyLong_AsUnsignedLongLong(index.get());
      out.integer = large;
    }
    if (overflow < 0 || PyErr_Occurred()) {
      PyErr_Clear();
      out.tooLarge = true;
    }
    out.real = PyLong_AsDouble(index.get());
    if (PyErr_Occurred()) {
      PyErr_Clear();
      out.real = overflow < 0 ? -HUGE_VAL : HUGE_VAL;
    }
    return true;
  }
  PyRef real = PyRef::steal(PyNumber_Float(object));
  if (!real) return false;
  out.kind = NumberKind::Float;
  out.real = PyFloat_AsDouble(real.get());
  return true;
}

std::string numberText(PyObject* number) { return reprOf(unwrap(number)); }

/// Rule 10: the type of a number that stands alone.
bool ownType(PyObject* object, const Number& n, Type& out) {
  constexpr double kSmallestNormal = 0x1p-126, kLargest = 0x1.fffffep127;
  if (n.kind == NumberKind::Bool) {
    out = scalarType(Scalar::I1);
  } else if (n.kind == NumberKind::Float) {
    double size = std::fabs(n.real);
    bool fits = size == 0 || std::isinf(size) || std::isnan(size) || (size >= kSmallestNormal && size <= kLargest);
    out = scalarType(fits ? Scalar::F32 : Scalar::F64);
  } else {
    if (n.tooLarge) return raiseValue("Nonrepresentable integer " + numberText(object) + ": it does not fit 64 bits");
    __int128 one = 1;
    Scalar s = n.integer >= -(one << 31) && n.integer < (one << 31) ? Scalar::I32
               : n.integer >= 0 && n.integer < (one << 32)          ? Scalar::U32
               : n.integer < (one << 63)                            ? Scalar::I64
                                                                    : Scalar::U64;
    out = scalarType(s);
  }
  return true;
}

NumberKind kindOf(const Type& t) {
  return t.isBool() ? NumberKind::Bool : t.isInt() ? NumberKind::Int : NumberKind::Float;
}

/// Rule 9: a weak integer must fit the tensor's type.
bool checkFits(PyObject* object, const Number& n, const Type& t) {
  if (!t.isInt() || t.isBool() || n.kind == NumberKind::Float) return true;
  __int128 one = 1;
  __int128 low = t.isSigned() ? -(one << (t.bits() - 1)) : 0;
  __int128 high = (one << (t.isSigned() ? t.bits() - 1 : t.bits())) - 1;
  if (n.tooLarge) return raiseValue("Nonrepresentable integer " + numberText(object) + ": it does not fit 64 bits");
  if (n.integer >= low && n.integer <= high) return true;
  if (n.integer < 0 && !t.isSigned())
    return raiseValue("Cannot perform a binary operation between an unsigned tensor and a negative scalar: " + t.str() +
                      " and " + numberText(object) + "; cast one of them first, as in x.to(tl.int32)");
  return raiseValue(
      "Scalar " + numberText(object) + " is out of range for type " + t.str() +
      ", that of the tensor it is combined with; cast the tensor to a wider type first, as in x.to(tl.int64)");
}

Value emitNumber(Builder& b, const Number& n, const Type& t) {
  return t.isFloat() ? floatConstant(b, t, n.real)
                     : integerConstant(b, t, int64_t(n.kind == NumberKind::Float ? __int128(n.real) : n.integer));
}

Raised notAnOperand(PyObject* object) {
  return raiseType("expected a tensor or a number, got " + described(unwrap(object)));
}

} // namespace

bool promote(Type x, Type y, bool division, Type& out) {
  x = x.element();
  y = y.element();
  auto either = [&](Scalar s) { return (!x.isPointer() && x.scalar == s) || (!y.isPointer() && y.scalar == s); };
  if (x.isPointer() || y.isPointer() || x.scalar == Scalar::Void || y.scalar == Scalar::Void)
    return raiseType("unexpected type " + x.str() + " and " + y.str() + ": they have no common type");
  if (!x.isFloat() && !y.isFloat()) {
    if (division && x.isSigned() != y.isSigned())
      return raiseType("Cannot use /, // or % with " + x.str() + " and " + y.str() +
                       " because they have different signedness (int1 counts as unsigned); " +
                       "cast one of them, as in x.to(tl.int32)");
    if (x.isSigned() == y.isSigned())
      out = x.bits() > y.bits() ? x : y;
    else
      out = x.isSigned() ? (y.bits() >= x.bits() ? y : x) : (x.bits() >= y.bits() ? x : y);
    return true;
  }
  Scalar s;
  if (either(Scalar::F64))
    s = Scalar::F64;
  else if (either(Scalar::F32) || division)
    s = Scalar::F32;
  else if (either(Scalar::F16))
    s = Scalar::F16;
  else if (either(Scalar::BF16))
    s = x.scalar == y.scalar ? Scalar::BF16 : Scalar::F32;
  else if (x.isFp8() && y.isFp8())
    s = x.scalar == y.scalar ? x.scalar : Scalar::F16;
  else
    return raiseType("unexpected type " + x.str() + " and " + y.str() +
                     ": they have no common type; cast the fp8 operand first, as in x.to(tl.float16)");
  out = scalarType(s);
  return true;
}

bool isNumber(PyObject* object) {
  object = unwrap(object);
  return !isTensor(object) && (PyLong_Check(object) || PyFloat_Check(object) || PyIndex_Check(object));
}

Value numberAs(Builder& b, PyObject* object, const Type& type) {
  Number n;
  if (!isNumber(object)) return notAnOperand(object);
  if (!readNumber(object, n)) return raised();
  Type element = type.element();
  if (n.tooLarge && element.isInt())
    return raiseValue("Nonrepresentable integer " + numberText(object) + ": it does not fit 64 bits");
  if (element.isPointer()) // a number as an address
    return splat(b, cast(b, numberAs(b, object, scalarType(Scalar::I64)), element), type.shape);
  if (!element.isInt() && !element.isFloat())
    return raiseType("a number cannot be of type " + type.str() + "; use a dtype such as tl.float32");
  if (element.isInt() && !element.isBool() && n.kind == NumberKind::Float && !(std::fabs(n.real) < 0x1p64))
    return raiseValue(numberText(object) + " has no value of type " + element.str());
  if (element.isBool())
    n.integer = n.kind == NumberKind::Float ? n.real != 0 : n.integer != 0, n.kind = NumberKind::Bool;
  return splat(b, emitNumber(b, n, element), type.shape);
}

Value toTensor(Builder& b, PyObject* object) {
  if (isTensor(object)) return tensorValue(object);
  Number n;
  Type t;
  if (!isNumber(object)) return notAnOperand(object);
  if (!readNumber(object, n) || !ownType(object, n, t)) return raised();
  return emitNumber(b, n, t);
}

bool promoteOperands(Builder& b, PyObject* lhs, PyObject* rhs, bool division, Value& x, Value& y, bool pointers) {
  bool tensorLeft = isTensor(lhs), tensorRight = isTensor(rhs);
  if (tensorLeft != tensorRight) { // one number: weak unless its kind is above the tensor's
    PyObject* number = tensorLeft ? rhs : lhs;
    const Value& tensor = tensorValue(tensorLeft ? lhs : rhs);
    Type t = tensor.type.element();
    Number n;
    if (!isNumber(number)) return notAnOperand(number);
    if (!readNumber(number, n)) return false;
    if (!t.isPointer() && n.kind <= kindOf(t)) {
      if (!checkFits(number, n, t) || !promote(t, t, division, t)) return false;
      Value converted = cast(b, tensor, t);
      Value constant = converted ? emitNumber(b, n, t) : Value();
      if (!constant) return false;
      x = tensorLeft ? converted : constant;
      y = tensorLeft ? constant : converted;
      return true;
    }
  }
  x = toTensor(b, lhs);
  y = x ? toTensor(b, rhs) : Value();
  if (!y) return false;
  Type t;
  if (pointers && x.type.isPointer() && x.type.element() == y.type.element()) return true;
  if (!promote(x.type, y.type, division, t)) return false;
  x = cast(b, x, t);
  y = x ? cast(b, y, t) : Value();
  return bool(y);
}

Value integerConstant(Builder& b, Type element, int64_t value) {
  element = element.element();
  mlir::Type type = element.toMlir(b.context());
  llvm::APInt bits(unsigned(element.bits()), uint64_t(value), /*isSigned=*/false, /*implicitTrunc=*/true);
  return b.create1("arith.constant", {}, element, named("value", mlir::IntegerAttr::get(type, bits)));
}

Value floatConstant(Builder& b, Type element, double value) {
  element = element.element();
  if (element.scalar == Scalar::F8E4B15) // travels as i8: no float attribute of its own
    return cast(b, floatConstant(b, scalarType(Scalar::F32), value), element);
  return b.create1("arith.constant", {}, element,
                   named("value", mlir::FloatAttr::get(element.toMlir(b.context()), value)));
}

} // namespace tiletwin::frontend
