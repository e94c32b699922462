// frontend/PyValues.cpp -- see PyValues.h.
#include "frontend/PyValues.h"

namespace tiletwin {
namespace {

std::string orQuestionMark(const PyRef& text) {
  if (text) return stringOf(text.get());
  PyErr_Clear();
  return "?";
}

} // namespace

std::string_view utf8(PyObject* string) {
  if (!string || !PyUnicode_Check(string)) return {};
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(string, &size);
  if (data) return {data, size_t(size)};
  PyErr_Clear();
  return {};
}

std::string textOf(PyObject* object) {
  return object ? orQuestionMark(PyRef::steal(PyObject_Str(object))) : std::string("?");
}
std::string reprOf(PyObject* object) { return orQuestionMark(PyRef::steal(PyObject_Repr(object))); }

std::string qualifiedTypeName(PyObject* object) {
  PyRef name = PyRef::steal(PyType_GetQualName(Py_TYPE(object)));
  std::string module = moduleNameOf(typeOf(object));
  return (module.empty() || module == "builtins" ? "" : module + ".") + stringOf(name.get());
}

std::string moduleNameOf(PyObject* object) { return stringOf(attributeIfAny(object, "__module__").get()); }

PyRef takeError() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (value && traceback) PyException_SetTraceback(value, traceback);
  PyRef ownType = PyRef::steal(type), ownTraceback = PyRef::steal(traceback);
  return PyRef::steal(value);
}

void putError(const PyRef& error) {
  PyErr_Restore(toPython(typeOf(error.get())).release(), PyRef(error).release(), PyException_GetTraceback(error.get()));
}

} // namespace tiletwin
