// frontend/TypeObjects.cpp -- between frontend::Type and the dtype objects of python/tiletwin/dtypes.py.
// Here:      register_types, the two conversions, tuples and shapes as Python sees them.
// Not here:  the classes themselves (Python), names and widths (Type.cpp).
// Invariant: for a dtype d, typeToPython(typeFromPython(d)) is d (blocks: equals d).
#include "frontend/ObjectSupport.h"

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
  return none().release();
}

bool haveTypes() {
  if (dtypeByName) return true;
  return raise(PyExc_RuntimeError, "the language's types are not registered: import tiletwin.language first");
}

bool fromPython(PyObject* object, Type& out) {
  if (PyObject_IsInstance(object, pointerClass.get()) == 1) {
    PyRef element = attribute(object, "element_ty");
    PyRef isConst = attribute(object, "const");
    Type pointee;
    if (!element || !isConst || !fromPython(element.get(), pointee)) return false;
    out = pointerTo(pointee, PyObject_IsTrue(isConst.get()) == 1);
    return true;
  }
  if (PyObject_IsInstance(object, blockClass.get()) == 1) {
    PyRef element = attribute(object, "element_ty");
    PyRef shape = attribute(object, "shape");
    PyRef items = PyRef::steal(shape ? PySequence_Tuple(shape.get()) : nullptr);
    if (!element || !items || !fromPython(element.get(), out)) return false;
    for (PyObject* item : itemsOf(items)) out.shape.push_back(PyLong_AsLongLong(unwrap(item)));
    return !PyErr_Occurred();
  }
  PyRef name = attributeIfAny(object, "name");
  Scalar scalar;
  if (scalarFromName(stringOf(name.get()), scalar) && PyDict_GetItem(dtypeByName.get(), name.get()) == object) {
    out = scalarType(scalar);
    return true;
  }
  return raiseType("expected a dtype such as tl.float32 or a tl.pointer_type, got " + described(object));
}

} // namespace

bool addTypeFunctions(PyObject* module) {
  return addFunctions(module,
                      {withKeywords("register_types", registerTypes,
                                    "register_types(dtype_by_name, pointer_type, block_type, tuple_type=None): the "
                                    "language's type classes, set once at import.")});
}

bool typeFromPython(PyObject* dtype, Type& out) { return haveTypes() && fromPython(unwrap(dtype), out); }

PyRef typeToPython(const Type& type) {
  if (!haveTypes()) return {};
  if (type.isDescriptor() || type.isBlock()) {
    PyRef element = typeToPython(type.element());
    return element ? call(blockClass, element, pyTupleFrom(type.shape)) : PyRef();
  }
  if (type.isPointer()) {
    PyRef element = typeToPython(type.pointee());
    PyRef args = element ? pyTuple(element) : PyRef(), kwargs = pyDict("const", type.constPointer);
    return PyRef::steal(args && kwargs ? PyObject_Call(pointerClass.get(), args.get(), kwargs.get()) : nullptr);
  }
  PyObject* known = PyDict_GetItemString(dtypeByName.get(), scalarName(type.scalar).data());
  if (!known) return raise(PyExc_RuntimeError, "no dtype is registered for " + type.str());
  return PyRef::borrow(known);
}

PyRef makeTuple(llvm::ArrayRef<PyRef> items) {
  PyRef tuple = pyTupleFrom(items);
  return tuple && tupleClass ? call(tupleClass, tuple) : tuple;
}

PyRef makeShape(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<PyRef, 4> dims;
  for (int64_t d : shape) {
    PyRef number = toPython(d);
    dims.push_back(number ? makeConstexpr(number.get()) : PyRef());
  }
  return makeTuple(dims);
}

} // namespace tiletwin::frontend
