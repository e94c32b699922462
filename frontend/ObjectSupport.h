// frontend/ObjectSupport.h -- what the C++ heap types share: creation, allocation, release, results of slots.
// Only the *Object.cpp files include this.
#pragma once
#include "frontend/PyRef.h"
#include "frontend/Raise.h"
#include <new>
#include <utility>

namespace tiletwin::frontend {

/// Each adds its type to the module. False with an error set on failure.
bool addTensorObject(PyObject* module);
bool addConstexprObject(PyObject* module);
bool addBuiltinObject(PyObject* module);
bool addDescriptorObject(PyObject* module);
bool addBlockPointerObject(PyObject* module);
bool addTypeFunctions(PyObject* module);

/// Creates the type and adds it to the module under the last part of its name. Null on failure; lives for ever.
inline PyTypeObject* addType(PyObject* module, PyType_Spec& spec, const char* name) {
  PyObject* type = PyType_FromSpec(&spec);
  if (!type || PyModule_AddObjectRef(module, name, type) < 0) return nullptr;
  return reinterpret_cast<PyTypeObject*>(type);
}

/// A new Object whose C++ members are constructed. `Object` starts with PyObject_HEAD, then has one member `state`.
template <class Object, class... Args> PyObject* allocateObject(PyTypeObject* type, Args&&... args) {
  auto* allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* object = allocate(type, 0);
  if (object) new (&reinterpret_cast<Object*>(object)->state) decltype(Object::state){std::forward<Args>(args)...};
  return object;
}

/// tp_dealloc of such an object: heap types own a reference to their type.
template <class Object> void deallocateObject(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  using State = decltype(Object::state);
  reinterpret_cast<Object*>(object)->state.~State();
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  PyRef::steal(reinterpret_cast<PyObject*>(type));
}

/// `attribute` of `self` by the name `name`; a function set on the type from Python (a builtin, a jit function) is
/// bound to self like a method, though it is no Python function. Steals and returns a reference.
PyObject* bindMethod(PyObject* self, PyObject* attribute, PyObject* name);

/// A METH_KEYWORDS function as PyMethodDef stores it.
inline PyCFunction withKeywords(PyCFunctionWithKeywords function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

inline PyObject* notImplemented() { return PyRef::borrow(Py_NotImplemented).release(); }
inline PyObject* none() { return PyRef::borrow(Py_None).release(); }
template <class F> PyType_Slot slot(int id, F* function) { return {id, reinterpret_cast<void*>(function)}; }

} // namespace tiletwin::frontend
