// frontend/TensorObject.cpp -- the Python type tensor: a run-time value. Operators go to the semantic layer.
// Here:      slots, attributes, binding of methods, and what eager mode makes of a tensor as a Python number.
// Not here:  the rules (Semantic.h); methods such as x.sum (set on the type by python/tiletwin/language/).
// Invariant: an operator on a tensor never looks at the value, only at types, so both modes take the same path.
#include "frontend/ObjectSupport.h"
#include "frontend/Objects.h"
#include "frontend/Semantic.h"

namespace tiletwin::frontend {
namespace {

struct TensorObject {
  PyObject_HEAD Value state;
};

PyTypeObject* tensorType = nullptr;
EagerHooks hooks;

const Value& valueOf(PyObject* self) { return reinterpret_cast<TensorObject*>(self)->state; }
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

template <BinaryOp op> PyObject* binarySlot(PyObject* a, PyObject* b) {
  if (!isOperand(a) || !isOperand(b)) return notImplemented();
  Builder* builder = builderOrError();
  return builder ? result(binary(*builder, op, a, b)) : nullptr;
}
template <UnaryOp op> PyObject* unarySlot(PyObject* x) {
  Builder* builder = builderOrError();
  return builder ? result(unary(*builder, op, x)) : nullptr;
}
template <BinaryOp op> PyObject* binaryMethod(PyObject* a, PyObject* b) { return binarySlot<op>(a, b); }
PyObject* notMethod(PyObject* x, PyObject*) { return unarySlot<UnaryOp::Not>(x); }

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
PyObject* numpyMethod(PyObject* x, PyObject*) { return numpyOrError(x, "has no values to copy into an array"); }
PyObject* listMethod(PyObject* x, PyObject*) {
  PyRef array = PyRef::steal(numpyOrError(x, "has no values to make a list of"));
  return array ? PyObject_CallMethod(array.get(), "tolist", nullptr) : nullptr;
}
PyObject* htmlMethod(PyObject* x, PyObject*) {
  return valueOf(x).eager && hooks.html ? hooks.html(valueOf(x)) : none();
}
PyObject* reprSlot(PyObject* x) {
  if (valueOf(x).eager && hooks.repr) return hooks.repr(valueOf(x));
  return PyUnicode_FromString(("tensor of type " + typeText(x)).c_str());
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
PyObject* formatMethod(PyObject* x, PyObject* spec) {
  const bool isNumber = valueOf(x).eager && hooks.item && !valueOf(x).type.isBlock();
  const bool plain = PyUnicode_Check(spec) && PyUnicode_GetLength(spec) == 0;
  PyRef base = PyRef::steal(isNumber && !plain ? hooks.item(valueOf(x)) : strSlot(x));
  return base ? PyObject_Format(base.get(), spec) : nullptr;
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
  if (PyObject* found = PyObject_GenericGetAttr(self, name)) return bindMethod(self, found, name);
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return nullptr;
  const char* text = PyUnicode_AsUTF8AndSize(name, nullptr);
  if (!text || text[0] == '_') return nullptr;
  PyErr_Clear();
  std::string instead;
  for (const Hint& hint : kHints)
    if (llvm::StringRef(hint.name) == text) instead = std::string("; use ") + hint.instead;
  if (instead.empty()) {
    PyRef names = PyRef::steal(PyObject_Dir(reinterpret_cast<PyObject*>(Py_TYPE(self))));
    if (names) instead = didYouMean(name, names.get());
    PyErr_Clear();
  }
  return raise(PyExc_AttributeError, "a tensor (" + typeText(self) + ") has no attribute '" + text + "'" + instead);
}

PyObject* getDtype(PyObject* x, void*) { return typeToPython(valueOf(x).type.element()).release(); }
PyObject* getType(PyObject* x, void*) { return typeToPython(valueOf(x).type).release(); }
PyObject* getShape(PyObject* x, void*) { return makeShape(valueOf(x).type.shape).release(); }
PyObject* getNumel(PyObject* x, void*) {
  PyRef n = PyRef::steal(PyLong_FromLongLong(valueOf(x).type.numel()));
  return n ? makeConstexpr(n.get()).release() : nullptr;
}
PyObject* getHandle(PyObject* x, void*) { return PyRef::borrow(x).release(); }
PyObject* getTransposed(PyObject* x, void*) {
  Builder* builder = builderOrError();
  const Value& value = valueOf(x);
  if (!builder) return nullptr;
  if (value.type.shape.size() != 2)
    return raiseType("x.T needs a 2-D block, got " + value.type.str() + "; use tl.permute for other ranks");
  return result(permute(*builder, value, {1, 0}));
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
  return allocateObject<TensorObject>(type, std::move(value));
}

PyGetSetDef kGetSet[] = {
    {"dtype", getDtype, nullptr, "The element type.", nullptr},
    {"type", getType, nullptr, "The whole type: a dtype for a scalar, a block_type for a block.", nullptr},
    {"shape", getShape, nullptr, "Tuple of constexpr; () for a scalar.", nullptr},
    {"numel", getNumel, nullptr, "Number of elements, a constexpr.", nullptr},
    {"T", getTransposed, nullptr, "A 2-D block transposed.", nullptr},
    {"handle", getHandle, nullptr, "What tensor(handle, type) takes.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyMethodDef kMethods[] = {
    {"__format__", formatMethod, METH_O, nullptr},
    {"__array__", withKeywords(arrayMethod), METH_VARARGS | METH_KEYWORDS, nullptr},
    {"_repr_html_", htmlMethod, METH_NOARGS, "What a notebook shows: a heat map with the values."},
    {"numpy", numpyMethod, METH_NOARGS, "The elements as a NumPy array, where they are known: in eager mode."},
    {"tolist", listMethod, METH_NOARGS, "The elements as nested lists, where they are known: in eager mode."},
    {"__not__", notMethod, METH_NOARGS, "`not x`: needs int1."},
    {"logical_and", binaryMethod<BinaryOp::LogicalAnd>, METH_O, "`x and y`, both computed: needs int1."},
    {"logical_or", binaryMethod<BinaryOp::LogicalOr>, METH_O, "`x or y`, both computed: needs int1."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot kSlots[] = {
    slot(Py_tp_new, newTensor),
    slot(Py_tp_dealloc, deallocateObject<TensorObject>),
    slot(Py_tp_getattro, getattrSlot),
    slot(Py_tp_richcompare, compareSlot),
    slot(Py_tp_hash, hashSlot),
    slot(Py_tp_iter, iterSlot),
    slot(Py_tp_repr, reprSlot),
    slot(Py_tp_str, strSlot),
    slot(Py_nb_add, binarySlot<BinaryOp::Add>),
    slot(Py_nb_subtract, binarySlot<BinaryOp::Sub>),
    slot(Py_nb_multiply, binarySlot<BinaryOp::Mul>),
    slot(Py_nb_true_divide, binarySlot<BinaryOp::Div>),
    slot(Py_nb_floor_divide, binarySlot<BinaryOp::FloorDiv>),
    slot(Py_nb_remainder, binarySlot<BinaryOp::Mod>),
    slot(Py_nb_and, binarySlot<BinaryOp::And>),
    slot(Py_nb_or, binarySlot<BinaryOp::Or>),
    slot(Py_nb_xor, binarySlot<BinaryOp::Xor>),
    slot(Py_nb_lshift, binarySlot<BinaryOp::Shl>),
    slot(Py_nb_rshift, binarySlot<BinaryOp::Shr>),
    slot(Py_nb_negative, unarySlot<UnaryOp::Neg>),
    slot(Py_nb_positive, unarySlot<UnaryOp::Pos>),
    slot(Py_nb_invert, unarySlot<UnaryOp::Invert>),
    slot(Py_nb_bool, boolSlot),
    slot(Py_nb_int, intSlot),
    slot(Py_nb_index, indexSlot),
    slot(Py_nb_float, floatSlot),
    slot(Py_mp_length, lengthSlot),
    slot(Py_mp_subscript, subscriptSlot),
    {Py_tp_getset, kGetSet},
    {Py_tp_methods, kMethods},
    {Py_tp_doc, const_cast<char*>("A run-time value of a kernel: a scalar or a block of scalars of one dtype.")},
    {0, nullptr},
};
PyType_Spec kSpec = {"tiletwin._C.tensor", sizeof(TensorObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, kSlots};

} // namespace

bool addTensorObject(PyObject* module) {
  tensorType = addType(module, kSpec, "tensor");
  return tensorType != nullptr;
}

bool isTensor(PyObject* object) { return object && PyObject_TypeCheck(object, tensorType); }
PyRef makeTensor(Value value) {
  if (!value) return {};
  return PyRef::steal(allocateObject<TensorObject>(tensorType, std::move(value)));
}
const Value& tensorValue(PyObject* tensor) { return valueOf(tensor); }

void setEagerHooks(const EagerHooks& newHooks) { hooks = newHooks; }
const EagerHooks& eagerHooks() { return hooks; }

} // namespace tiletwin::frontend
