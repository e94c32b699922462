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

/// Makes an exception of class `cls` and sets it, with `cause` behind it.
void setError(PyObject* cls, const SourcePlace& place, llvm::StringRef message, PyRef cause) {
  PyRef kwargs = pyDict(), args = pyTuple(std::string_view(message), place.file, place.line, place.column);
  if (!kwargs || !args) return;
  if (place.sourceLine) putItems(kwargs, "source_line", place.sourceLine);
  if (place.functionLine) putItems(kwargs, "first_line", place.functionLine);
  PyRef error = PyRef::steal(PyObject_Call(cls, args.get(), kwargs.get()));
  if (!error) return;
  PyErr_SetObject(typeOf(error.get()), error.get());
  if (!cause) return;
  PyRef made = takeError();
  PyException_SetContext(made.get(), PyRef(cause).release());
  PyException_SetCause(made.get(), cause.release());
  putError(made);
}

std::string messageOf(PyObject* error) {
  if (PyObject_IsInstance(error, PyExc_KeyError) == 1) { // its text is the repr of what was not found
    PyRef args = attributeIfAny(error, "args");
    const bool isOne = args && PyTuple_Check(args.get()) && PyTuple_Size(args.get()) == 1;
    const std::string sentence = stringOf(isOne ? PyTuple_GetItem(args.get(), 0) : nullptr);
    if (sentence.find(' ') != std::string::npos) return sentence;
  }
  PyRef own = attributeIfAny(error, "error_message");
  if (!own || own.get() == Py_None) own = PyRef::steal(PyObject_Str(error));
  std::string text = stringOf(own.get());
  PyErr_Clear();
  // Errors of the rules carry whole sentences; those of Python's own machinery need their class to be understood.
  for (PyObject* cls : {PyExc_TypeError, PyExc_ValueError, PyExc_NameError, PyExc_AssertionError,
                        PyExc_NotImplementedError, PyExc_AttributeError, PyExc_RuntimeError, PyExc_RecursionError})
    if (!text.empty() && typeOf(error) == cls) return text;
  std::string name = typeName(error);
  if (llvm::StringRef(name).contains("Compil") || name == "UnsupportedLanguageConstruct") return text;
  return text.empty() ? name : name + ": " + text;
}

bool isLocated(PyObject* error) {
  PyRef cls = errorClass(ErrorClass::Compilation);
  if (!cls || PyObject_IsInstance(error, cls.get()) != 1) return false;
  PyRef line = attribute(error, "line");
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
  std::string message = ("in the call of " + calleeName + " here:\n" + stringOf(text.get())).str();
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
