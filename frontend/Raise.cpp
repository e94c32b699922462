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

std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  if (shape.empty()) return "()";
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

} // namespace tiletwin::frontend
