// python/src/Registry.cpp -- see Registry.h.
#include "Registry.h"
#include "Arrays.h"
#include "Elements.h"
#include "Interned.h"
#include "TorchGuard.h"
#include "interp/Interp.h"
#include "interp/check/FreshMemory.h"
#include "runtime/Buffer.h"

namespace tiletwin::python {
namespace {

/// register_memory(array, name) -> address of the storage's first byte. The caller keeps the array alive.
PyObject* registerMemory(PyObject*, PyObject* args) {
  PyObject* object;
  const char* name;
  if (!PyArg_ParseTuple(args, "Os:register_memory", &object, &name)) return nullptr;
  Array array;
  if (!readArray(object, factsOf(object), array)) return nullptr;
  if (!array.extentsKnown || array.onDevice) {
    PyErr_Format(PyExc_ValueError, "a %s %s, so it cannot be registered", typeName(object).c_str(),
                 array.onDevice ? "is not in host memory" : "does not say how long its memory is");
    return nullptr;
  }
  BufferRegistry::instance().add({name, array.begin, array.end, array.viewBegin, array.viewEnd, array.readOnly});
  return PyLong_FromUnsignedLongLong(array.begin);
}

PyObject* unregisterMemory(PyObject*, PyObject* address) {
  uintptr_t begin = PyLong_AsUnsignedLongLong(address);
  if (PyErr_Occurred()) return nullptr;
  BufferRegistry::instance().remove(begin);
  return PyRef::borrow(Py_None).release();
}

/// add_fresh_memory(array, maker, file, line) -> address: nobody has written the storage of `array` yet. 0: it has none in
/// host memory.
PyObject* addFreshMemory(PyObject*, PyObject* args) {
  PyObject* object;
  const char *maker, *file;
  int line;
  if (!PyArg_ParseTuple(args, "Ossi:add_fresh_memory", &object, &maker, &file, &line)) return nullptr;
  Array array;
  if (!readArray(object, factsOf(object), array)) return nullptr;
  if (!array.extentsKnown || array.onDevice || array.begin == array.end) return PyLong_FromLong(0);
  SourceLocation made;
  made.file = file;
  made.line = line;
  interp::FreshMemory::instance().add(array.begin, array.end, maker, std::move(made));
  return PyLong_FromUnsignedLongLong(array.begin);
}

PyObject* removeFreshMemory(PyObject*, PyObject* address) {
  uintptr_t begin = PyLong_AsUnsignedLongLong(address);
  if (PyErr_Occurred()) return nullptr;
  interp::FreshMemory::instance().remove(begin);
  return PyRef::borrow(Py_None).release();
}

PyObject* instructionSet(PyObject*, PyObject*) {
  try {
    return PyUnicode_FromString(interp::instructionSet());
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
  }
}

/// array_info(array): what a launch would learn about it; for tests and `tiletwin doctor`.
PyObject* arrayInfo(PyObject*, PyObject* object) {
  const TypeFacts& facts = factsOf(object);
  Array array;
  if (!readArray(object, facts, array)) return nullptr;
  return Py_BuildValue("{s:s,s:K,s:K,s:K,s:K,s:K,s:O,s:O}", "type", element(array.element).typeName, "data",
                       (unsigned long long)array.data, "begin", (unsigned long long)array.begin, "end",
                       (unsigned long long)array.end, "view_begin", (unsigned long long)array.viewBegin, "view_end",
                       (unsigned long long)array.viewEnd, "read_only", array.readOnly ? Py_True : Py_False, "on_device",
                       array.onDevice ? Py_True : Py_False);
}

PyMethodDef kFunctions[] = {
    {"register_memory", registerMemory, METH_VARARGS, "register_memory(array, name) -> address"},
    {"unregister_memory", unregisterMemory, METH_O, "unregister_memory(address)"},
    {"add_fresh_memory", addFreshMemory, METH_VARARGS, "add_fresh_memory(array, maker, file, line) -> address"},
    {"remove_fresh_memory", removeFreshMemory, METH_O, "remove_fresh_memory(address)"},
    {"instruction_set", instructionSet, METH_NOARGS, "Name of the instruction set in use."},
    {"set_torch_guard", setTorchGuard, METH_O,
     "set_torch_guard(type): a context manager that keeps torch function modes out of launches, or None."},
    {"array_info", arrayInfo, METH_O, "Element type, address and extents of an array."},
    {nullptr, nullptr, 0, nullptr},
};

} // namespace

int addRegistry(PyObject* module) { return PyModule_AddFunctions(module, kFunctions); }

} // namespace tiletwin::python
