// python/src/Context.h -- the MLIR context of the process, and its diagnostics as Python exceptions.
// Invariant: one context, used under the GIL only; it is never destroyed (MLIR's own statics may be gone at exit).
#pragma once
#include "frontend/PyRef.h"
#include "frontend/Semantic.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include <string>

namespace tiletwin::python {

mlir::MLIRContext& sharedContext();

/// Collects diagnostics for a scope instead of printing them.
class DiagnosticCapture {
public:
  explicit DiagnosticCapture(mlir::MLIRContext& context);
  /// Raises a CompilationError made of what was collected, unless a Python exception is set already. `stage` says what
  /// was being done ("making TTIR of kernel 'add'").
  void raise(const std::string& stage) const;
  /// The same at a given place of the user's file, counted from 1 (line 0: none).
  void raiseAt(const std::string& stage, const std::string& file, int line, int column) const;
  bool empty() const { return message_.empty(); }

private:
  mlir::ScopedDiagnosticHandler handler_;
  std::string message_, file_;
  int line_ = 0, column_ = 0; ///< 1-based; 0: unknown
};

/// File, line and column a location stands for, its innermost call site. False if it has none.
bool sourceOf(mlir::Location location, std::string& file, int& line, int& column);

/// Reads the option dictionary that kernels/options.py makes. False with an exception set.
bool readSemanticOptions(PyObject* dict, frontend::SemanticOptions& out);

} // namespace tiletwin::python
