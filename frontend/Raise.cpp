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
  std::string name = stringOf(attributeIfAny(typeOf(object), "__name__").get());
  return name.empty() ? "object" : name;
}

std::string described(PyObject* object) {
  if (object == Py_None) return "None";
  if (PyUnicode_Check(object)) return "the text " + reprOf(object);
  std::string type = typeName(object);
  if (type == "dtype") return reprOf(object);
  return (llvm::StringRef("aeiouAEIOU").contains(type[0]) ? "an " : "a ") + type;
}

std::string didYouMean(PyObject* name, PyObject* names) {
  const ErrorKept kept;
  PyRef close = call(imported("difflib", "get_close_matches"), name, names);
  std::string text;
  for (PyObject* match : itemsOf(close)) text += (text.empty() ? "; did you mean " : ", ") + stringOf(match);
  return text.empty() ? text : text + "?";
}

std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  if (shape.empty()) return "()";
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

} // namespace tiletwin::frontend
