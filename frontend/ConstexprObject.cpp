// frontend/ConstexprObject.cpp -- the Python type constexpr: a compile-time value that stays one through operators.
// Here:      all operators by way of Python's own on the value; results are constexprs again.
// Not here:  and, or, not, if (the walker); turning one into a tensor (toTensor in Promotion.cpp).
// Invariant: the value of a constexpr is never a constexpr nor a tensor.
#include "frontend/ObjectSupport.h"
#include "frontend/Objects.h"
#include "frontend/PackageObject.h"

namespace tiletwin::frontend {
namespace {

struct ConstexprState {
  PyRef value;
};
struct ConstexprObject {
  PyObject_HEAD ConstexprState state;
};

PyTypeObject* constexprType = nullptr;

PyObject* valueOf(PyObject* self) { return reinterpret_cast<ConstexprObject*>(self)->state.value.get(); }
PyObject* wrapped(PyObject* result) {
  PyRef value = PyRef::steal(result);
  return value ? makeConstexpr(value.get()).release() : nullptr;
}

PyObject* newConstexpr(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"value", nullptr};
  PyObject* value = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:constexpr", const_cast<char**>(names), &value)) return nullptr;
  if (isTensor(value)) return raiseType("constexpr() takes a value known while compiling, not a run-time tensor");
  return allocateObject<ConstexprObject>(type, PyRef::borrow(unwrap(value)));
}

template <PyObject* (*Op)(PyObject*)> PyObject* unarySlot(PyObject* x) { return wrapped(Op(valueOf(x))); }
template <PyObject* (*Op)(PyObject*, PyObject*)> PyObject* binarySlot(PyObject* a, PyObject* b) {
  if (isTensor(a) || isTensor(b)) return notImplemented();
  return wrapped(Op(unwrap(a), unwrap(b)));
}
PyObject* powerSlot(PyObject* a, PyObject* b, PyObject* modulo) {
  if (isTensor(a) || isTensor(b)) return notImplemented();
  return wrapped(PyNumber_Power(unwrap(a), unwrap(b), unwrap(modulo)));
}
PyObject* divmodSlot(PyObject* a, PyObject* b) {
  if (isTensor(a) || isTensor(b)) return notImplemented();
  return PyNumber_Divmod(unwrap(a), unwrap(b));
}
PyObject* compareSlot(PyObject* a, PyObject* b, int op) {
  if (isTensor(b)) return notImplemented();
  return wrapped(PyObject_RichCompare(valueOf(a), unwrap(b), op));
}

int boolSlot(PyObject* x) { return PyObject_IsTrue(valueOf(x)); }
PyObject* indexSlot(PyObject* x) { return PyNumber_Index(valueOf(x)); }
PyObject* intSlot(PyObject* x) { return PyNumber_Long(valueOf(x)); }
PyObject* floatSlot(PyObject* x) { return PyNumber_Float(valueOf(x)); }
Py_hash_t hashSlot(PyObject* x) { return PyObject_Hash(valueOf(x)); }
Py_ssize_t lengthSlot(PyObject* x) { return PyObject_Size(valueOf(x)); }
PyObject* iterSlot(PyObject* x) { return PyObject_GetIter(valueOf(x)); }
int containsSlot(PyObject* x, PyObject* item) { return PySequence_Contains(valueOf(x), unwrap(item)); }
PyObject* subscriptSlot(PyObject* x, PyObject* index) {
  PyRef item = PyRef::steal(PyObject_GetItem(valueOf(x), unwrap(index)));
  if (!item || isTensor(item.get())) return item.release();
  return makeConstexpr(item.get()).release();
}
PyObject* callSlot(PyObject* x, PyObject* args, PyObject* kwargs) { return PyObject_Call(valueOf(x), args, kwargs); }
PyObject* strSlot(PyObject* x) { return PyObject_Str(valueOf(x)); }
PyObject* reprSlot(PyObject* x) { return PyUnicode_FromFormat("constexpr[%S]", valueOf(x)); }

PyObject* getattrSlot(PyObject* self, PyObject* name) {
  PyObject* own = PyObject_GenericGetAttr(self, name);
  if (own || !PyErr_ExceptionMatches(PyExc_AttributeError)) return own;
  PyErr_Clear();
  return PyObject_GetAttr(valueOf(self), name);
}

PyObject* getValue(PyObject* self, void*) { return PyRef::borrow(valueOf(self)).release(); }
PyObject* getType(PyObject* self, void*) {
  PyRef cls = packageObject("constexpr_type");
  return cls ? PyObject_CallFunctionObjArgs(cls.get(), valueOf(self), nullptr) : nullptr;
}
PyObject* formatMethod(PyObject* self, PyObject* spec) { return PyObject_Format(valueOf(self), spec); }
PyObject* reduceMethod(PyObject* self, PyObject*) { return Py_BuildValue("(O(O))", constexprType, valueOf(self)); }
PyObject* logicalAndMethod(PyObject* self, PyObject* other) {
  int yes = PyObject_IsTrue(valueOf(self));
  return yes < 0 ? nullptr : makeConstexpr(yes ? unwrap(other) : valueOf(self)).release();
}
PyObject* logicalOrMethod(PyObject* self, PyObject* other) {
  int yes = PyObject_IsTrue(valueOf(self));
  return yes < 0 ? nullptr : makeConstexpr(yes ? valueOf(self) : unwrap(other)).release();
}
PyObject* notMethod(PyObject* self, PyObject*) {
  int yes = PyObject_IsTrue(valueOf(self));
  return yes < 0 ? nullptr : makeConstexpr(yes ? Py_False : Py_True).release();
}
PyObject* roundMethod(PyObject* self, PyObject* args) {
  PyRef method = PyRef::steal(PyObject_GetAttrString(valueOf(self), "__round__"));
  return method ? wrapped(PyObject_Call(method.get(), args, nullptr)) : nullptr;
}

PyGetSetDef kGetSet[] = {
    {"value", getValue, nullptr, "The Python value.", nullptr},
    {"type", getType, nullptr, "A constexpr_type of the value.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyMethodDef kMethods[] = {
    {"__format__", formatMethod, METH_O, nullptr},
    {"__reduce__", reduceMethod, METH_NOARGS, nullptr},
    {"__round__", roundMethod, METH_VARARGS, nullptr},
    {"__not__", notMethod, METH_NOARGS, "`not self` as a constexpr."},
    {"logical_and", logicalAndMethod, METH_O, "`self and other` as a constexpr."},
    {"logical_or", logicalOrMethod, METH_O, "`self or other` as a constexpr."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot kSlots[] = {
    slot(Py_tp_new, newConstexpr),
    slot(Py_tp_dealloc, deallocateObject<ConstexprObject>),
    slot(Py_tp_getattro, getattrSlot),
    slot(Py_tp_richcompare, compareSlot),
    slot(Py_tp_hash, hashSlot),
    slot(Py_tp_iter, iterSlot),
    slot(Py_tp_call, callSlot),
    slot(Py_tp_str, strSlot),
    slot(Py_tp_repr, reprSlot),
    slot(Py_nb_add, (binarySlot<PyNumber_Add>)),
    slot(Py_nb_subtract, (binarySlot<PyNumber_Subtract>)),
    slot(Py_nb_multiply, (binarySlot<PyNumber_Multiply>)),
    slot(Py_nb_true_divide, (binarySlot<PyNumber_TrueDivide>)),
    slot(Py_nb_floor_divide, (binarySlot<PyNumber_FloorDivide>)),
    slot(Py_nb_remainder, (binarySlot<PyNumber_Remainder>)),
    slot(Py_nb_and, (binarySlot<PyNumber_And>)),
    slot(Py_nb_or, (binarySlot<PyNumber_Or>)),
    slot(Py_nb_xor, (binarySlot<PyNumber_Xor>)),
    slot(Py_nb_lshift, (binarySlot<PyNumber_Lshift>)),
    slot(Py_nb_rshift, (binarySlot<PyNumber_Rshift>)),
    slot(Py_nb_divmod, divmodSlot),
    slot(Py_nb_power, powerSlot),
    slot(Py_nb_negative, unarySlot<PyNumber_Negative>),
    slot(Py_nb_positive, unarySlot<PyNumber_Positive>),
    slot(Py_nb_invert, unarySlot<PyNumber_Invert>),
    slot(Py_nb_absolute, unarySlot<PyNumber_Absolute>),
    slot(Py_nb_bool, boolSlot),
    slot(Py_nb_index, indexSlot),
    slot(Py_nb_int, intSlot),
    slot(Py_nb_float, floatSlot),
    slot(Py_mp_length, lengthSlot),
    slot(Py_mp_subscript, subscriptSlot),
    slot(Py_sq_contains, containsSlot),
    {Py_tp_getset, kGetSet},
    {Py_tp_methods, kMethods},
    {Py_tp_doc,
     const_cast<char*>("constexpr(value): a value known while a kernel is compiled. Operators on it give constexprs.")},
    {0, nullptr},
};
PyType_Spec kSpec = {"tiletwin._C.constexpr", sizeof(ConstexprObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                     kSlots};

} // namespace

bool addConstexprObject(PyObject* module) {
  constexprType = addType(module, kSpec, "constexpr");
  return constexprType != nullptr;
}

bool isConstexpr(PyObject* object) { return object && PyObject_TypeCheck(object, constexprType); }
PyRef makeConstexpr(PyObject* value) {
  if (isConstexpr(value) || isTensor(value)) return PyRef::borrow(value);
  return PyRef::steal(allocateObject<ConstexprObject>(constexprType, PyRef::borrow(value)));
}
PyObject* constexprValue(PyObject* object) { return valueOf(object); }
PyObject* unwrap(PyObject* object) { return isConstexpr(object) ? valueOf(object) : object; }

} // namespace tiletwin::frontend
