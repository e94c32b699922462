// frontend/CompilationError.h -- errors of the front end as Python exceptions that say where in the user's file.
// Here:      positions, and turning any exception into CompilationError (python/tiletwin/errors.py) with a cause chain.
// Not here:  the texts of rules (where the rule is checked).
#pragma once
#include "frontend/PyRef.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace tiletwin::frontend {

/// A place in the user's source.
struct SourcePlace {
  std::string file;
  long line = 0;    ///< 1-based
  long column = 0;  ///< 0-based, in UTF-8 bytes, as ast counts
  PyRef sourceLine; ///< str, or null
  long functionLine = 0;
};

enum class ErrorClass : uint8_t { Compilation, Unsupported, StaticAssert };

/// Sets the exception; one that is set already becomes its cause.
void raiseAt(const SourcePlace& place, llvm::StringRef message, ErrorClass kind = ErrorClass::Compilation);
/// Gives the exception that is set a position, unless it has one: it becomes a CompilationError whose cause it is.
/// Exceptions that are no errors (KeyboardInterrupt) and MemoryError stay as they are.
void locateError(const SourcePlace& place);
/// True if the exception that is set is a CompilationError with a position.
bool errorIsLocated();
/// The exception that is set happened inside something called at `place`: wraps it in one that says so.
void chainError(const SourcePlace& place, llvm::StringRef calleeName);
/// The innermost file position of an MLIR location. False if it has none.
bool placeOf(mlir::Location location, SourcePlace& place);

} // namespace tiletwin::frontend
