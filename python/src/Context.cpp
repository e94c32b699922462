// python/src/Context.cpp -- see Context.h.
#include "Context.h"
#include "frontend/PackageObject.h"
#include "frontend/PyValues.h"
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
    std::string source = stringOf(call(imported("linecache", "getline"), file, line).get());
    if (!source.empty() && source.back() == '\n') source.pop_back();
    PyErr_Clear();
    error = call(type, message, file, line, column > 0 ? column - 1 : 0, source);
  } else {
    error = call(type, message);
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
