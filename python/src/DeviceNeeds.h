// python/src/DeviceNeeds.h -- what a kernel needs of a GPU, for TILETWIN_CHECK=device:NAME.
// Not here:  what GPUs have, and the findings (python/tiletwin/devices.py); the bound on shared memory (ir/SharedMemory.h).
#pragma once
#include "frontend/PyRef.h"
#include "ir/SharedMemory.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace tiletwin::python {

/// (shared memory, element types):
/// (bytes, place, parts) or None, and a list of (element type, "dot", "cast" or "value", place, operation), the first of
/// each kind.
/// A place is (file, line, column, variable).
PyRef deviceNeeds(mlir::ModuleOp module, const std::string& entry, const tt::SharedMemoryQuery& query);

} // namespace tiletwin::python
