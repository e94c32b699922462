// frontend/TypeObjects.cpp -- between frontend::Type and the dtype objects of python/tiletwin/dtypes.py.
// Here:      register_types, the two conversions, tuples and shapes as Python sees them.
// Not here:  the classes themselves (Python), names and widths (Type.cpp).
// Invariant: for a dtype d, typeToPython(typeFromPython(d)) is d (blocks: equals d).
#include "frontend/ObjectSupport.h"
#include "frontend/Objects.h"

namespace tiletwin::frontend {
namespace {

// Never destroyed: Python is gone when static objects go.
PyRef& dtypeByName = *new PyRef;  // dict: "fp32" -> dtype
PyRef& pointerClass = *new PyRef; // pointer_type(element_ty, const=...)
PyRef& blockClass = *new PyRef;   // block_type(element_ty, shape)
PyRef& tupleClass = *new PyRef;   // called with a tuple of items; null: Python's tuple

PyObject* registerTypes(PyObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"dtype_by_name", "pointer_type", "block_type", "tuple_type", nullptr};
  PyObject *dtypes = nullptr, *pointer = nullptr, *block = nullptr, *tuple = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!OO|O:register_types", const_cast<char**>(names), &PyDict_Type,
                                   &dtypes, &pointer, &block, &tuple))
    return nullptr;
  dtypeByName = PyRef::borrow(dtypes);
  pointerClass = PyRef::borrow(pointer);
  blockClass = PyRef::borrow(block);
  tupleClass = tuple == Py_None ? PyRef() : PyRef::borrow(tuple);
  return none();
}

PyMethodDef kFunctions[] = {
    {"register_types", withKeywords(registerTypes), METH_VARARGS | METH_KEYWORDS,
     "register_types(dtype_by_name, pointer_type, block_type, tuple_type=None): the language's type classes, set once "
     "at import."},
    {nullptr, nullptr, 0, nullptr},
};

bool haveTypes() {
  if (dtypeByName) return true;
  return raise(PyExc_RuntimeError, "the language's types are not registered: import tiletwin.language first");
}

bool fromPython(PyObject* object, Type& out) {
  if (PyObject_IsInstance(object, pointerClass.get()) == 1) {
    PyRef element = PyRef::steal(PyObject_GetAttrString(object, "element_ty"));
    PyRef isConst = PyRef::steal(PyObject_GetAttrString(object, "const"));
    Type pointee;
    if (!element || !isConst || !fromPython(element.get(), pointee)) return false;
    out = pointerTo(pointee, PyObject_IsTrue(isConst.get()) == 1);
    return true;
  }
  if (PyObject_IsInstance(object, blockClass.get()) == 1) {
    PyRef element = PyRef::steal(PyObject_GetAttrString(object, "element_ty"));
    PyRef shape = PyRef::steal(PyObject_GetAttrString(object, "shape"));
    if (!element || !shape || !fromPython(element.get(), out)) return false;
    Py_ssize_t rank = PySequence_Size(shape.get());
    for (Py_ssize_t i = 0; i < rank; ++i) {
      PyRef item = PyRef::steal(PySequence_GetItem(shape.get(), i));
      if (!item) return false;
      out.shape.push_back(PyLong_AsLongLong(unwrap(item.get())));
    }
    return !PyErr_Occurred();
  }
  PyRef name = PyRef::steal(PyObject_GetAttrString(object, "name"));
  const char* text = name && PyUnicode_Check(name.get()) ? PyUnicode_AsUTF8AndSize(name.get(), nullptr) : nullptr;
  Scalar scalar;
  if (text && scalarFromName(text, scalar)) {
    PyObject* known = PyDict_GetItem(dtypeByName.get(), name.get());
    if (known == object) {
      out = scalarType(scalar);
      return true;
    }
  }
  PyErr_Clear();
  return raiseType("expected a dtype such as tl.float32 or a tl.pointer_type, got " + described(object));
}

} // namespace

bool addTypeFunctions(PyObject* module) { return PyModule_AddFunctions(module, kFunctions) == 0; }

bool typeFromPython(PyObject* dtype, Type& out) { return haveTypes() && fromPython(unwrap(dtype), out); }

PyRef typeToPython(const Type& type) {
  if (!haveTypes()) return {};
  if (type.isDescriptor() || type.isBlock()) {
    PyRef element = typeToPython(type.element());
    PyRef shape = PyRef::steal(PyTuple_New(type.shape.size()));
    if (!element || !shape) return {};
    for (size_t i = 0; i < type.shape.size(); ++i) PyTuple_SetItem(shape.get(), i, PyLong_FromLongLong(type.shape[i]));
    return PyRef::steal(PyObject_CallFunctionObjArgs(blockClass.get(), element.get(), shape.get(), nullptr));
  }
  if (type.isPointer()) {
    PyRef element = typeToPython(type.pointee());
    PyRef args = element ? PyRef::steal(PyTuple_Pack(1, element.get())) : PyRef();
    PyRef kwargs =
        args ? PyRef::steal(Py_BuildValue("{s:O}", "const", type.constPointer ? Py_True : Py_False)) : PyRef();
    return kwargs ? PyRef::steal(PyObject_Call(pointerClass.get(), args.get(), kwargs.get())) : PyRef();
  }
  PyObject* known = PyDict_GetItemString(dtypeByName.get(), scalarName(type.scalar).data());
  if (!known) return raise(PyExc_RuntimeError, "no dtype is registered for " + type.str());
  return PyRef::borrow(known);
}

PyRef makeTuple(llvm::ArrayRef<PyRef> items) {
  PyRef tuple = PyRef::steal(PyTuple_New(items.size()));
  if (!tuple) return {};
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i]) return {};
    PyTuple_SetItem(tuple.get(), i, PyRef(items[i]).release());
  }
  return tupleClass ? PyRef::steal(PyObject_CallFunctionObjArgs(tupleClass.get(), tuple.get(), nullptr)) : tuple;
}

PyRef makeShape(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<PyRef, 4> dims;
  for (int64_t d : shape) {
    PyRef number = PyRef::steal(PyLong_FromLongLong(d));
    dims.push_back(number ? makeConstexpr(number.get()) : PyRef());
  }
  return makeTuple(dims);
}

} // namespace tiletwin::frontend
