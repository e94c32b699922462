// frontend/Raise.cpp -- Python exceptions from C++ text.
#include "frontend/Raise.h"

namespace tiletwin::frontend {

Raised raise(PyObject* exceptionType, const llvm::Twine& message) {
  PyErr_SetString(exceptionType, message.str().c_str());
  return {};
}
Raised raiseType(const llvm::Twine& message) { return raise(PyExc_TypeError, message); }
Raised raiseValue(const llvm::Twine& message) { return raise(PyExc_ValueError, message); }
Raised raiseNotImplemented(const llvm::Twine& message) { return raise(PyExc_NotImplementedError, message); }

std::string typeName(PyObject* object) {
  PyRef name = PyRef::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__name__"));
  const char* text = name ? PyUnicode_AsUTF8AndSize(name.get(), nullptr) : nullptr;
  if (!text) {
    PyErr_Clear();
    return "object";
  }
  return text;
}

std::string described(PyObject* object) {
  std::string type = typeName(object);
  if (object == Py_None) return "None";
  bool byItself = PyUnicode_Check(object) || type == "dtype";
  if (byItself) {
    PyRef text = PyRef::steal(PyObject_Repr(object));
    if (const char* utf8 = text ? PyUnicode_AsUTF8AndSize(text.get(), nullptr) : nullptr)
      return (PyUnicode_Check(object) ? "the text " : "") + std::string(utf8);
    PyErr_Clear();
  }
  return (llvm::StringRef("aeiouAEIOU").contains(type[0]) ? "an " : "a ") + type;
}

std::string didYouMean(PyObject* name, PyObject* names) {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyRef difflib = PyRef::steal(PyImport_ImportModule("difflib"));
  PyRef close =
      difflib ? PyRef::steal(PyObject_CallMethod(difflib.get(), "get_close_matches", "OO", name, names)) : PyRef();
  std::string text;
  for (Py_ssize_t i = 0; close && i < PyList_Size(close.get()); ++i)
    if (const char* utf8 = PyUnicode_AsUTF8AndSize(PyList_GetItem(close.get(), i), nullptr))
      text += std::string(i ? ", " : "; did you mean ") + utf8;
  PyErr_Clear();
  PyErr_Restore(type, value, traceback);
  return text.empty() ? text : text + "?";
}

std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  if (shape.empty()) return "()";
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

} // namespace tiletwin::frontend
