// interp/plan/UserPlace.h -- where a location stands for the user who is told of it.
#pragma once
#include "mlir/IR/Location.h"
#include "runtime/Trap.h"

namespace tiletwin::interp {

/// The place that findings name: in the language's library, the call of it in the user's file.
SourceLocation placeForUser(mlir::Location location);

} // namespace tiletwin::interp
