// frontend/ConstexprObject.cpp -- the Python type constexpr: a compile-time value that stays one through operators.
// Here:      all operators by way of Python's own on the value; results are constexprs again.
// Not here:  and, or, not, if (the walker); turning one into a tensor (toTensor in Promotion.cpp).
// Invariant: the value of a constexpr is never a constexpr nor a tensor.
#include "frontend/ObjectSupport.h"
#include "frontend/PackageObject.h"

namespace tiletwin::frontend {
namespace {

struct Constexpr {
  PyRef value;
};

PyObject* valueOf(PyObject* self) { return Object<Constexpr>::of(self).value.get(); }
PyRef wrapped(PyRef value) { return value ? makeConstexpr(value.get()) : PyRef(); }
PyObject* wrapped(PyObject* result) { return wrapped(PyRef::steal(result)).release(); }

PyObject* newConstexpr(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"value", nullptr};
  PyObject* value = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:constexpr", const_cast<char**>(names), &value)) return nullptr;
  if (isTensor(value)) return raiseType("constexpr() takes a value known while compiling, not a run-time tensor");
  return Object<Constexpr>::makeOf(type, PyRef::borrow(unwrap(value))).release();
}

template <PyObject* (*Op)(PyObject*)> PyObject* unarySlot(PyObject* x) { return wrapped(Op(valueOf(x))); }
template <size_t i> struct BinarySlot {
  static PyObject* call(PyObject* a, PyObject* b) {
    if (isTensor(a) || isTensor(b)) return notImplemented();
    return wrapped(kNumberOps[i].compileTime(unwrap(a), unwrap(b)));
  }
};
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

PyRef value(const Constexpr& self) { return self.value; }
PyRef type(const Constexpr& self) { return call(packageObject("constexpr_type"), self.value); }
PyRef format(const Constexpr& self, PyObject* spec) { return PyRef::steal(PyObject_Format(self.value.get(), spec)); }
PyRef reduce(PyObject* self) { return pyTuple(typeOf(self), pyTuple(valueOf(self))); }
/// `self and other`, `self or other`: the value that decides, or the other one.
template <bool isAnd> PyRef logical(const Constexpr& self, PyObject* other) {
  const int yes = PyObject_IsTrue(self.value.get());
  return yes < 0 ? PyRef() : makeConstexpr(bool(yes) == isAnd ? unwrap(other) : self.value.get());
}
PyRef negation(const Constexpr& self) {
  const int yes = PyObject_IsTrue(self.value.get());
  return yes < 0 ? PyRef() : makeConstexpr(yes ? Py_False : Py_True);
}
PyObject* roundMethod(PyObject* self, PyObject* args) {
  PyRef method = attribute(valueOf(self), "__round__");
  return method ? wrapped(PyObject_Call(method.get(), args, nullptr)) : nullptr;
}

} // namespace

bool addConstexprObject(PyObject* module) {
  return addType<Constexpr>(
      module, {.name = "tiletwin._C.constexpr",
               .doc = "constexpr(value): a value known while a kernel is compiled. Operators on it give constexprs.",
               .methods = {method<"__format__", format>(nullptr),
                           method<"__reduce__", reduce>(nullptr),
                           {"__round__", roundMethod, METH_VARARGS, nullptr},
                           method<"__not__", negation>("`not self` as a constexpr."),
                           method<"logical_and", logical<true>>("`self and other` as a constexpr."),
                           method<"logical_or", logical<false>>("`self or other` as a constexpr.")},
               .properties = {property<"value", value>("The Python value."),
                              property<"type", type>("A constexpr_type of the value.")},
               .slots = withNumberOps<BinarySlot>({
                   slot(Py_tp_new, newConstexpr),
                   slot(Py_tp_getattro, getattrSlot),
                   slot(Py_tp_richcompare, compareSlot),
                   slot(Py_tp_hash, hashSlot),
                   slot(Py_tp_iter, iterSlot),
                   slot(Py_tp_call, callSlot),
                   slot(Py_tp_str, strSlot),
                   slot(Py_tp_repr, reprSlot),
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
               }),
               .flags = Py_TPFLAGS_BASETYPE});
}

bool isConstexpr(PyObject* object) { return Object<Constexpr>::is(object); }
PyRef makeConstexpr(PyObject* value) {
  if (isConstexpr(value) || isTensor(value)) return PyRef::borrow(value);
  return Object<Constexpr>::make(PyRef::borrow(value));
}
PyObject* constexprValue(PyObject* object) { return valueOf(object); }
PyObject* unwrap(PyObject* object) { return isConstexpr(object) ? valueOf(object) : object; }

} // namespace tiletwin::frontend
