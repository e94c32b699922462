// frontend/Objects.cpp -- adds the language's C++ objects to the extension; binds functions set on their types.
#include "frontend/Objects.h"
#include "frontend/EagerSupport.h"
#include "frontend/ObjectSupport.h"

namespace tiletwin::frontend {

PyObject* bindMethod(PyObject* self, PyObject* attribute, PyObject* name) {
  if (!PyCallable_Check(attribute) || PyType_Check(attribute)) return attribute;
  PyRef onType = PyRef::steal(PyObject_GetAttr(reinterpret_cast<PyObject*>(Py_TYPE(self)), name));
  PyErr_Clear();
  if (onType.get() != attribute) // bound already, or a property's value
    return attribute;
  static PyObject* methodType = [] {
    PyRef types = PyRef::steal(PyImport_ImportModule("types"));
    return types ? PyObject_GetAttrString(types.get(), "MethodType") : nullptr;
  }();
  PyRef function = PyRef::steal(attribute);
  return methodType ? PyObject_CallFunctionObjArgs(methodType, attribute, self, nullptr) : nullptr;
}

int addObjects(PyObject* module) {
  bool ok = addConstexprObject(module) && addTensorObject(module) && addDescriptorObject(module) &&
            addBlockPointerObject(module) && addBuiltinObject(module) && addTypeFunctions(module) &&
            addEagerSupport(module) == 0;
  return ok ? 0 : -1;
}

} // namespace tiletwin::frontend
