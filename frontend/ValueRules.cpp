// frontend/ValueRules.cpp -- identity, membership, methods and calls of types, for both modes.
#include "frontend/ValueRules.h"
#include "frontend/PackageObject.h"
#include "frontend/Raise.h"
#include "frontend/Structure.h"

namespace tiletwin::frontend {

bool isSame(PyObject* x, PyObject* y) { return unwrap(x) == unwrap(y); }

int contains(PyObject* container, PyObject* item) {
  if (isTensor(item) || containsTensor(container)) {
    raiseType("`in` needs compile-time values on both sides; compare run-time values with == and |");
    return -1;
  }
  PyRef plainItem = unwrapDeep(item), plainContainer = unwrapDeep(container);
  return plainItem && plainContainer ? PySequence_Contains(plainContainer.get(), plainItem.get()) : -1;
}

PyRef bindMethod(PyObject* method, PyObject* owner) {
  static PyObject* const methodType = [] {
    PyRef types = PyRef::steal(PyImport_ImportModule("types"));
    return types ? PyObject_GetAttrString(types.get(), "MethodType") : nullptr;
  }();
  return methodType ? PyRef::steal(PyObject_CallFunctionObjArgs(methodType, method, owner, nullptr)) : PyRef();
}

PyRef typeOfTuple(PyObject* tuple) {
  PyRef typeOf = packageObject("type_of");
  return typeOf ? PyRef::steal(PyObject_CallFunctionObjArgs(typeOf.get(), tuple, nullptr)) : PyRef();
}

PyRef callDtype(Builder& builder, PyObject* dtype, llvm::ArrayRef<PyRef> arguments) {
  Type type;
  if (!typeFromPython(dtype, type)) return {};
  if (arguments.size() != 1) return raiseType("a type is called with one value, as in tl.float32(x)");
  Value value = toTensor(builder, arguments[0].get());
  Value converted = value ? cast(builder, value, type) : Value();
  return converted ? makeTensor(converted) : PyRef();
}

PyRef languageFunction(const char* name) {
  PyRef module = packageObject("language_core");
  return module ? PyRef::steal(PyObject_GetAttrString(module.get(), name)) : PyRef();
}

} // namespace tiletwin::frontend
