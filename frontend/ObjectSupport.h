// frontend/ObjectSupport.h -- what the types of the language's objects share. Only the *Object.cpp files include this.
#pragma once
#include "frontend/NumberOps.h"
#include "frontend/Objects.h"
#include "frontend/PyFunctions.h"
#include "frontend/Raise.h"
#include <initializer_list>

namespace tiletwin::frontend {

/// Each adds its type, or its functions, to the module. False with an error set on failure.
bool addTensorObject(PyObject* module);
bool addConstexprObject(PyObject* module);
bool addBuiltinObject(PyObject* module);
bool addDescriptorObject(PyObject* module);
bool addBlockPointerObject(PyObject* module);
bool addTypeFunctions(PyObject* module);

/// tp_getattro: a function that Python set on the type (a builtin, a jit function) is bound to self like a method, though
/// it is no Python function.
PyObject* boundAttribute(PyObject* self, PyObject* name);
/// What the walker takes objects of the type apart into, and gives its `__tiletwin_rebuild__` to put together again.
bool addFields(PyTypeObject* type, std::initializer_list<const char*> names);

inline PyObject* notImplemented() { return PyRef::borrow(Py_NotImplemented).release(); }

/// `others`, and the slots of numbers' operators with two operands: `Slot<i>::call` for each row of kNumberOps.
template <template <size_t> class Slot> std::vector<PyType_Slot> withNumberOps(std::vector<PyType_Slot> others) {
  [&]<size_t... i>(std::index_sequence<i...>) {
    (others.push_back(slot(kNumberOps[i].slot, Slot<i>::call)), ...);
  }(std::make_index_sequence<std::size(kNumberOps)>());
  return others;
}

} // namespace tiletwin::frontend
