// frontend/TensorObject.cpp -- the Python type tensor: a run-time value. Operators go to the semantic layer.
// Here:      slots, attributes, binding of methods, and what eager mode makes of a tensor as a Python number.
// Not here:  the rules (Semantic.h); methods such as x.sum (set on the type by python/tiletwin/language/).
// Invariant: an operator on a tensor never looks at the value, only at types, so both modes take the same path.
#include "frontend/ObjectSupport.h"

namespace tiletwin::frontend {
namespace {

EagerHooks hooks;

const Value& valueOf(PyObject* self) { return Object<Value>::of(self); }
std::string typeText(PyObject* self) { return valueOf(self).type.str(); }

Builder* builderOrError() {
  Builder* builder = Builder::current();
  if (!builder)
    raise(PyExc_RuntimeError,
          "operations on tensors work inside kernels only; no kernel is being compiled or run here");
  return builder;
}
PyObject* result(Value value) { return value ? makeTensor(std::move(value)).release() : nullptr; }

/// Tensors, compile-time values and Python (or NumPy) numbers; other operands let Python try their own operators.
bool isOperand(PyObject* x) {
  x = unwrap(x);
  return isTensor(x) || PyLong_Check(x) || PyFloat_Check(x) || PyIndex_Check(x);
}

PyObject* binary(BinaryOp op, PyObject* a, PyObject* b) {
  if (!isOperand(a) || !isOperand(b)) return notImplemented();
  Builder* builder = builderOrError();
  return builder ? result(frontend::binary(*builder, op, a, b)) : nullptr;
}
template <size_t i> struct BinarySlot {
  static PyObject* call(PyObject* a, PyObject* b) { return binary(kNumberOps[i].op, a, b); }
};
template <UnaryOp op> PyObject* unarySlot(PyObject* x) {
  Builder* builder = builderOrError();
  return builder ? result(unary(*builder, op, x)) : nullptr;
}
template <BinaryOp op> PyRef logical(PyObject* a, PyObject* b) { return PyRef::steal(binary(op, a, b)); }
PyRef negation(PyObject* x) { return PyRef::steal(unarySlot<UnaryOp::Not>(x)); }

PyObject* compareSlot(PyObject* a, PyObject* b, int op) {
  if (!isOperand(b)) return notImplemented();
  static constexpr CompareOp kOps[] = {CompareOp::LT, CompareOp::LE, CompareOp::EQ,
                                       CompareOp::NE, CompareOp::GT, CompareOp::GE};
  static_assert(Py_LT == 0 && Py_LE == 1 && Py_EQ == 2 && Py_NE == 3 && Py_GT == 4 && Py_GE == 5);
  Builder* builder = builderOrError();
  return builder ? result(compare(*builder, kOps[op], a, b)) : nullptr;
}

/// In a kernel's own text eager mode calls `subscript` itself; this is `[]` of a debugger or of a Python function, which
/// look at values as NumPy would have it.
PyObject* subscriptSlot(PyObject* x, PyObject* index) {
  if (valueOf(x).eager && hooks.part && !isLanguageIndex(valueOf(x).type, index)) return hooks.part(valueOf(x), index);
  Builder* builder = builderOrError();
  return builder ? result(subscript(*builder, valueOf(x), index)) : nullptr;
}

// What only an evaluated tensor can do.
PyObject* itemOrError(PyObject* x, const char* what, const char* instead) {
  if (valueOf(x).eager && hooks.item) return hooks.item(valueOf(x));
  return raiseType("a run-time tensor (" + typeText(x) + ") has no " + what + " while a kernel is compiled; " +
                   instead);
}
int boolSlot(PyObject* x) {
  PyRef item = PyRef::steal(itemOrError(x, "truth value",
                                        "use tl.where on blocks, `if` on scalars inside the kernel, "
                                        "or a tl.constexpr value for decisions made while compiling"));
  return item ? PyObject_IsTrue(item.get()) : -1;
}
PyObject* intSlot(PyObject* x) {
  PyRef item = PyRef::steal(
      itemOrError(x, "Python integer value", "use x.to(tl.int32) to convert it, or a tl.constexpr parameter"));
  return item ? PyNumber_Long(item.get()) : nullptr;
}
PyObject* indexSlot(PyObject* x) {
  PyRef item = PyRef::steal(
      itemOrError(x, "Python integer value", "shapes, ranges of tl.arange and the like must be tl.constexpr"));
  return item ? PyNumber_Index(item.get()) : nullptr;
}
PyObject* floatSlot(PyObject* x) {
  PyRef item = PyRef::steal(itemOrError(x, "Python float value", "use x.to(tl.float32) to convert it"));
  return item ? PyNumber_Float(item.get()) : nullptr;
}
PyObject* numpyOrError(PyObject* x, const char* what) {
  if (valueOf(x).eager && hooks.numpy) return hooks.numpy(valueOf(x));
  return raiseType("a run-time tensor (" + typeText(x) + ") " + what + " while a kernel is compiled");
}
PyObject* iterSlot(PyObject* x) {
  PyRef array = PyRef::steal(numpyOrError(x, "cannot be iterated over"));
  return array ? PyObject_GetIter(array.get()) : nullptr;
}
Py_ssize_t lengthSlot(PyObject* x) {
  const Value& value = valueOf(x);
  if (!value.eager || !value.type.isBlock()) {
    raiseType("len() of a tensor (" + typeText(x) + ") is not part of the language; use x.shape[0]");
    return -1;
  }
  return value.type.shape[0];
}
PyObject* arrayMethod(PyObject* x, PyObject*, PyObject*) {
  return numpyOrError(x, "has no values to copy into an array");
}
PyRef numpy(PyObject* x) { return PyRef::steal(numpyOrError(x, "has no values to copy into an array")); }
PyRef list(PyObject* x) {
  PyRef array = PyRef::steal(numpyOrError(x, "has no values to make a list of"));
  return callMethod(array.get(), "tolist");
}
PyRef html(const Value& x) { return x.eager && hooks.html ? PyRef::steal(hooks.html(x)) : none(); }
PyObject* reprSlot(PyObject* x) {
  if (valueOf(x).eager && hooks.repr) return hooks.repr(valueOf(x));
  return toPython("tensor of type " + typeText(x)).release();
}
PyObject* strSlot(PyObject* x) {
  if (valueOf(x).eager && hooks.item && !valueOf(x).type.isBlock()) {
    // A float's digits are those that its own type has: as Python's float, 0.1 of 32 bits would be 0.10000000149011612.
    const bool narrow = valueOf(x).type.isFloat() && valueOf(x).type.scalar != Scalar::F64 && hooks.numpy;
    PyRef item = PyRef::steal(narrow ? hooks.numpy(valueOf(x)) : hooks.item(valueOf(x)));
    return item ? PyObject_Str(item.get()) : nullptr;
  }
  return reprSlot(x);
}
PyRef format(PyObject* x, PyObject* spec) {
  const bool isNumber = valueOf(x).eager && hooks.item && !valueOf(x).type.isBlock();
  const bool plain = PyUnicode_Check(spec) && PyUnicode_GetLength(spec) == 0;
  PyRef base = PyRef::steal(isNumber && !plain ? hooks.item(valueOf(x)) : strSlot(x));
  return PyRef::steal(base ? PyObject_Format(base.get(), spec) : nullptr);
}

Py_hash_t hashSlot(PyObject* x) { return Py_hash_t(reinterpret_cast<uintptr_t>(x) >> 4); }

struct Hint {
  const char* name;
  const char* instead;
};
constexpr Hint kHints[] = {
    {"astype", "x.to(dtype)"},
    {"clip", "tl.clamp(x, lo, hi)"},
    {"dim", "len(x.shape)"},
    {"element_ty", "x.dtype.element_ty"},
    {"flatten", "x.ravel()"},
    {"mean", "tl.sum(x, axis) / n"},
    {"ndim", "len(x.shape)"},
    {"size", "x.numel"},
    {"transpose", "tl.trans(x)"},
    {"unsqueeze", "x[None, :] or tl.expand_dims(x, axis)"},
    {"value", "the tensor itself: only a constexpr has .value"},
};

PyObject* getattrSlot(PyObject* self, PyObject* name) {
  if (PyObject* found = boundAttribute(self, name)) return found;
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return nullptr;
  const std::string text = stringOf(name);
  if (text.starts_with("_")) return nullptr;
  PyErr_Clear();
  std::string instead;
  for (const Hint& hint : kHints)
    if (text == hint.name) instead = std::string("; use ") + hint.instead;
  if (instead.empty()) {
    PyRef names = PyRef::steal(PyObject_Dir(typeOf(self)));
    if (names) instead = didYouMean(name, names.get());
    PyErr_Clear();
  }
  return raise(PyExc_AttributeError, "a tensor (" + typeText(self) + ") has no attribute '" + text + "'" + instead);
}

PyRef dtype(const Value& x) { return typeToPython(x.type.element()); }
PyRef type(const Value& x) { return typeToPython(x.type); }
PyRef shape(const Value& x) { return makeShape(x.type.shape); }
PyRef numel(const Value& x) { return makeConstexpr(toPython(x.type.numel()).get()); }
PyRef handle(PyObject* x) { return PyRef::borrow(x); }
PyRef transposed(const Value& x) {
  Builder* builder = builderOrError();
  if (!builder) return {};
  if (x.type.shape.size() != 2)
    return raiseType("x.T needs a 2-D block, got " + x.type.str() + "; use tl.permute for other ranks");
  return PyRef::steal(result(permute(*builder, x, {1, 0})));
}

/// tensor(handle, type): the same value seen as another type of the same layout (int32 as uint32).
PyObject* newTensor(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"handle", "type", nullptr};
  PyObject *handle = nullptr, *pythonType = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:tensor", const_cast<char**>(names), &handle, &pythonType))
    return nullptr;
  Type wanted;
  if (!typeFromPython(pythonType, wanted)) return nullptr;
  if (!isTensor(handle))
    return raiseType("tensor(handle, type) takes the .handle of another tensor, got " + typeName(handle));
  Value value = valueOf(handle);
  if (wanted.shape != value.type.shape || wanted.bits() != value.type.bits() ||
      wanted.isFloat() != value.type.isFloat() || wanted.isPointer() != value.type.isPointer())
    return raiseType("a tensor of type " + value.type.str() + " cannot be seen as " + wanted.str() + "; use tl.cast");
  value.type = wanted;
  return Object<Value>::makeOf(type, std::move(value)).release();
}

} // namespace

bool addTensorObject(PyObject* module) {
  return addType<Value>(
      module,
      {.name = "tiletwin._C.tensor",
       .doc = "A run-time value of a kernel: a scalar or a block of scalars of one dtype.",
       .methods = {method<"__format__", format>(nullptr), withKeywords("__array__", arrayMethod),
                   method<"_repr_html_", html>("What a notebook shows: a heat map with the values."),
                   method<"numpy", numpy>("The elements as a NumPy array, where they are known: in eager mode."),
                   method<"tolist", list>("The elements as nested lists, where they are known: in eager mode."),
                   method<"__not__", negation>("`not x`: needs int1."),
                   method<"logical_and", logical<BinaryOp::LogicalAnd>>("`x and y`, both computed: needs int1."),
                   method<"logical_or", logical<BinaryOp::LogicalOr>>("`x or y`, both computed: needs int1.")},
       .properties = {property<"dtype", dtype>("The element type."),
                      property<"type", type>("The whole type: a dtype for a scalar, a block_type for a block."),
                      property<"shape", shape>("Tuple of constexpr; () for a scalar."),
                      property<"numel", numel>("Number of elements, a constexpr."),
                      property<"T", transposed>("A 2-D block transposed."),
                      property<"handle", handle>("What tensor(handle, type) takes.")},
       .slots = withNumberOps<BinarySlot>({
           slot(Py_tp_new, newTensor),
           slot(Py_tp_getattro, getattrSlot),
           slot(Py_tp_richcompare, compareSlot),
           slot(Py_tp_hash, hashSlot),
           slot(Py_tp_iter, iterSlot),
           slot(Py_tp_repr, reprSlot),
           slot(Py_tp_str, strSlot),
           slot(Py_nb_negative, unarySlot<UnaryOp::Neg>),
           slot(Py_nb_positive, unarySlot<UnaryOp::Pos>),
           slot(Py_nb_invert, unarySlot<UnaryOp::Invert>),
           slot(Py_nb_bool, boolSlot),
           slot(Py_nb_int, intSlot),
           slot(Py_nb_index, indexSlot),
           slot(Py_nb_float, floatSlot),
           slot(Py_mp_length, lengthSlot),
           slot(Py_mp_subscript, subscriptSlot),
       }),
       .flags = Py_TPFLAGS_BASETYPE});
}

bool isTensor(PyObject* object) { return Object<Value>::is(object); }
PyRef makeTensor(Value value) { return value ? Object<Value>::make(std::move(value)) : PyRef(); }
const Value& tensorValue(PyObject* tensor) { return valueOf(tensor); }

void setEagerHooks(const EagerHooks& newHooks) { hooks = newHooks; }
const EagerHooks& eagerHooks() { return hooks; }

} // namespace tiletwin::frontend
