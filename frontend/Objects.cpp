// frontend/Objects.cpp -- adds the language's C++ objects to the extension; binds functions set on their types.
#include "frontend/Objects.h"
#include "frontend/EagerSupport.h"
#include "frontend/ObjectSupport.h"
#include "frontend/ValueRules.h"

namespace tiletwin::frontend {

PyObject* boundAttribute(PyObject* self, PyObject* name) {
  PyRef found = PyRef::steal(PyObject_GenericGetAttr(self, name));
  if (!found || !PyCallable_Check(found.get()) || PyType_Check(found.get())) return found.release();
  PyRef onType = attributeIfAny(typeOf(self), name);
  if (onType.get() != found.get()) return found.release(); // bound already, or a property's value
  return bindMethod(found.get(), self).release();
}

bool addFields(PyTypeObject* type, std::initializer_list<const char*> names) {
  PyRef fields = pyTupleFrom(names);
  return fields && PyObject_SetAttrString(reinterpret_cast<PyObject*>(type), "__tiletwin_fields__", fields.get()) == 0;
}

bool addObjects(PyObject* module) {
  return addConstexprObject(module) && addTensorObject(module) && addDescriptorObject(module) &&
         addBlockPointerObject(module) && addBuiltinObject(module) && addTypeFunctions(module) &&
         addEagerSupport(module);
}

} // namespace tiletwin::frontend
