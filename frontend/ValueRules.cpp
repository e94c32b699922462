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
  static PyObject* const methodType = imported("types", "MethodType").release();
  return call(methodType, method, owner);
}

PyRef typeOfTuple(PyObject* tuple) { return call(packageObject("type_of"), tuple); }

PyRef callDtype(Builder& builder, PyObject* dtype, llvm::ArrayRef<PyRef> arguments) {
  Type type;
  if (!typeFromPython(dtype, type)) return {};
  if (arguments.size() != 1) return raiseType("a type is called with one value, as in tl.float32(x)");
  Value value = toTensor(builder, arguments[0].get());
  Value converted = value ? cast(builder, value, type) : Value();
  return converted ? makeTensor(converted) : PyRef();
}

PyRef languageFunction(const char* name) { return attribute(packageObject("language_core"), name); }

} // namespace tiletwin::frontend
