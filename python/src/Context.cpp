// python/src/Context.cpp -- see Context.h.
#include "Context.h"
#include "Interned.h"
#include "frontend/PackageObject.h"
#include "ir/Passes.h"
#include "ir/SourcePosition.h"

namespace tiletwin::python {

mlir::MLIRContext& sharedContext() {
  static mlir::MLIRContext* context = [] {
    auto* made = new mlir::MLIRContext(mlir::MLIRContext::Threading::DISABLED);
    tt::prepareContext(*made);
    made->printOpOnDiagnostic(false); // the place in the kernel says more to its author
    return made;
  }();
  return *context;
}

bool sourceOf(mlir::Location location, std::string& file, int& line, int& column) {
  mlir::FileLineColLoc position = tt::positionOf(location);
  if (!position) return false;
  file = position.getFilename().str();
  line = int(position.getLine());
  column = int(position.getColumn());
  return true;
}

namespace {
void raiseError(const std::string& stage, const std::string& text, const std::string& file, int line, int column) {
  if (PyErr_Occurred()) return;
  PyRef type = packageObject("CompilationError");
  if (!type) return;
  std::string message = text.empty() ? stage + " failed without a message" : text + " (" + stage + ")";
  PyRef error;
  if (line > 0) {
    PyRef getline = imported("linecache", "getline");
    PyRef source = PyRef::steal(getline ? PyObject_CallFunction(getline.get(), "si", file.c_str(), line) : nullptr);
    std::string sourceText(utf8(source.get()));
    if (!sourceText.empty() && sourceText.back() == '\n') sourceText.pop_back();
    PyErr_Clear();
    error = PyRef::steal(PyObject_CallFunction(type.get(), "ssiis", message.c_str(), file.c_str(), line,
                                               column > 0 ? column - 1 : 0, sourceText.c_str()));
  } else {
    error = PyRef::steal(PyObject_CallFunction(type.get(), "s", message.c_str()));
  }
  if (error) PyErr_SetObject(type.get(), error.get());
}
} // namespace

DiagnosticCapture::DiagnosticCapture(mlir::MLIRContext& context)
    : handler_(&context, [this](mlir::Diagnostic& diagnostic) {
        if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error) return mlir::success();
        if (message_.empty())
          sourceOf(diagnostic.getLocation(), file_, line_, column_);
        else
          message_ += "\n";
        message_ += diagnostic.str();
        for (mlir::Diagnostic& note : diagnostic.getNotes()) message_ += "\n  note: " + note.str();
        return mlir::success();
      }) {}

void DiagnosticCapture::raise(const std::string& stage) const { raiseError(stage, message_, file_, line_, column_); }

void DiagnosticCapture::raiseAt(const std::string& stage, const std::string& file, int line, int column) const {
  raiseError(stage, message_, file, line, column);
}

} // namespace tiletwin::python
