// frontend/CompilationError.cpp -- making CompilationError objects.
#include "frontend/CompilationError.h"
#include "frontend/PackageObject.h"
#include "frontend/Raise.h"
#include "ir/SourcePosition.h"

namespace tiletwin::frontend {
namespace {

PyRef errorClass(ErrorClass kind) {
  static constexpr const char* kNames[] = {"CompilationError", "UnsupportedLanguageConstruct",
                                           "CompileTimeAssertionFailure"};
  return packageObject(kNames[int(kind)]);
}

/// The exception that is set, normalised and taken; null if none is.
PyRef takeError() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (value && traceback) PyException_SetTraceback(value, traceback);
  PyRef ownType = PyRef::steal(type), ownTraceback = PyRef::steal(traceback);
  return PyRef::steal(value);
}

void putError(const PyRef& value) { PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(value.get())), value.get()); }

/// Makes an exception of class `cls` and sets it, with `cause` behind it.
void setError(PyObject* cls, const SourcePlace& place, llvm::StringRef message, PyRef cause) {
  PyRef kwargs = PyRef::steal(PyDict_New());
  PyRef args = PyRef::steal(Py_BuildValue("(s#sll)", message.data(), Py_ssize_t(message.size()), place.file.c_str(),
                                          place.line, place.column));
  if (!kwargs || !args) return;
  if (place.sourceLine) PyDict_SetItemString(kwargs.get(), "source_line", place.sourceLine.get());
  if (place.functionLine) {
    PyRef line = PyRef::steal(PyLong_FromLong(place.functionLine));
    PyDict_SetItemString(kwargs.get(), "first_line", line.get());
  }
  PyRef error = PyRef::steal(PyObject_Call(cls, args.get(), kwargs.get()));
  if (!error) return;
  putError(error);
  if (cause) {
    PyRef made = takeError();
    PyException_SetContext(made.get(), PyRef(cause).release());
    PyException_SetCause(made.get(), cause.release());
    putError(made);
  }
}

std::string messageOf(PyObject* error) {
  if (PyObject_IsInstance(error, PyExc_KeyError) == 1) { // its text is the repr of what was not found
    PyRef args = PyRef::steal(PyObject_GetAttrString(error, "args"));
    PyObject* first =
        args && PyTuple_Check(args.get()) && PyTuple_Size(args.get()) == 1 ? PyTuple_GetItem(args.get(), 0) : nullptr;
    const char* sentence = first && PyUnicode_Check(first) ? PyUnicode_AsUTF8AndSize(first, nullptr) : nullptr;
    PyErr_Clear();
    if (sentence && std::string_view(sentence).find(' ') != std::string_view::npos) return sentence;
  }
  PyRef own = PyRef::steal(PyObject_GetAttrString(error, "error_message"));
  if (!own || own.get() == Py_None) {
    PyErr_Clear();
    own = PyRef::steal(PyObject_Str(error));
  }
  const char* utf8 = own && PyUnicode_Check(own.get()) ? PyUnicode_AsUTF8AndSize(own.get(), nullptr) : nullptr;
  std::string text = utf8 ? utf8 : "";
  PyErr_Clear();
  // Errors of the rules carry whole sentences; those of Python's own machinery need their class to be understood.
  for (PyObject* cls : {PyExc_TypeError, PyExc_ValueError, PyExc_NameError, PyExc_AssertionError,
                        PyExc_NotImplementedError, PyExc_AttributeError, PyExc_RuntimeError, PyExc_RecursionError})
    if (!text.empty() && reinterpret_cast<PyObject*>(Py_TYPE(error)) == cls) return text;
  std::string name = typeName(error);
  if (llvm::StringRef(name).contains("Compil") || name == "UnsupportedLanguageConstruct") return text;
  return text.empty() ? name : name + ": " + text;
}

bool isLocated(PyObject* error) {
  PyRef cls = errorClass(ErrorClass::Compilation);
  if (!cls || PyObject_IsInstance(error, cls.get()) != 1) return false;
  PyRef line = PyRef::steal(PyObject_GetAttrString(error, "line"));
  return line && line.get() != Py_None;
}

} // namespace

void raiseAt(const SourcePlace& place, llvm::StringRef message, ErrorClass kind) {
  PyRef cause = PyErr_Occurred() ? takeError() : PyRef();
  if (PyRef cls = errorClass(kind)) setError(cls.get(), place, message, std::move(cause));
}

bool errorIsLocated() {
  PyRef error = takeError();
  bool located = error && isLocated(error.get());
  PyErr_Clear();
  if (error) putError(error);
  return located;
}

void locateError(const SourcePlace& place) {
  PyRef error = takeError();
  if (!error) {
    PyErr_SetString(PyExc_SystemError, "tiletwin: the front end failed without saying why");
    error = takeError();
  }
  bool keep = PyObject_IsInstance(error.get(), PyExc_Exception) != 1 ||
              PyObject_IsInstance(error.get(), PyExc_MemoryError) == 1 || isLocated(error.get());
  PyErr_Clear();
  if (keep) return putError(error);
  std::string message = messageOf(error.get());
  PyRef compilation = errorClass(ErrorClass::Compilation);
  if (!compilation) return;
  // A CompilationError (static assertion, unsupported construct) raised by a function of the library: same class, now
  // with a place.
  if (PyObject_IsInstance(error.get(), compilation.get()) == 1)
    return setError(reinterpret_cast<PyObject*>(Py_TYPE(error.get())), place, message, {});
  setError(compilation.get(), place, message, std::move(error));
}

void chainError(const SourcePlace& place, llvm::StringRef calleeName) {
  PyRef error = takeError();
  if (!error || PyObject_IsInstance(error.get(), PyExc_Exception) != 1) {
    if (error) putError(error);
    return;
  }
  PyRef text = PyRef::steal(PyObject_Str(error.get()));
  const char* utf8 = text ? PyUnicode_AsUTF8AndSize(text.get(), nullptr) : nullptr;
  std::string message = ("in the call of " + calleeName + " here:\n" + (utf8 ? utf8 : "")).str();
  PyErr_Clear();
  if (PyRef cls = errorClass(ErrorClass::Compilation)) setError(cls.get(), place, message, std::move(error));
}

bool placeOf(mlir::Location location, SourcePlace& place) {
  mlir::FileLineColLoc position = tt::positionOf(location);
  if (!position) return false;
  place.file = position.getFilename().str();
  place.line = position.getLine();
  place.column = position.getColumn() ? long(position.getColumn()) - 1 : 0;
  return true;
}

} // namespace tiletwin::frontend
