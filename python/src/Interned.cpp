// python/src/Interned.cpp -- strings between Python and C++.
#include "Interned.h"

namespace tiletwin::python {

PyObject* interned(const char* text) { return PyUnicode_InternFromString(text); }

std::string_view utf8(PyObject* string) {
  if (!string || !PyUnicode_Check(string)) return {};
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(string, &size);
  if (!data) {
    PyErr_Clear();
    return {};
  }
  return {data, size_t(size)};
}

std::string text(PyObject* object) {
  PyRef string = PyRef::steal(object ? PyObject_Str(object) : nullptr);
  if (!string) {
    PyErr_Clear();
    return "?";
  }
  return std::string(utf8(string.get()));
}

std::string typeName(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  PyRef name = PyRef::steal(PyType_GetQualName(type));
  PyRef module = PyRef::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__module__"));
  PyErr_Clear();
  std::string prefix(utf8(module.get()));
  std::string result(utf8(name.get()));
  return prefix.empty() || prefix == "builtins" ? result : prefix + "." + result;
}

PyRef imported(const char* module, const char* attribute) {
  PyRef imported = PyRef::steal(PyImport_ImportModule(module));
  return imported ? PyRef::steal(PyObject_GetAttrString(imported.get(), attribute)) : PyRef();
}

} // namespace tiletwin::python
