// interp/plan/UserPlace.h -- the place in a user's file that a location means.
#pragma once
#include "mlir/IR/Location.h"
#include "runtime/Trap.h"

namespace tiletwin::interp {

/// The place that findings name: in the language's library, the call of it in the user's file.
SourceLocation placeForUser(mlir::Location location);

} // namespace tiletwin::interp
