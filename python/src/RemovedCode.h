// python/src/RemovedCode.h -- warnings about code that the passes to TTIR removed though its author may have meant it.
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace tiletwin::python {

/// Compares what the front end made with what is left of it, and warns (UserWarning, once for each line of a file) of loops that
/// wait for memory through plain loads and of loads that are a whole statement. Such code has no effect that a compiler must
/// keep; Python, where it steps through a kernel, runs it. False: the warning is an error, and the exception is set.
bool warnOfRemovedCode(mlir::ModuleOp source, mlir::ModuleOp ttir);

} // namespace tiletwin::python
