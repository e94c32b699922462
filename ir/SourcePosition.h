// ir/SourcePosition.h -- where a location stands in the user's text.
// Not here:  names of variables, who called, whether a place belongs to the language's library (its users know).
#pragma once
#include "mlir/IR/Location.h"

namespace tiletwin::tt {

/// The innermost position: of what was called, not of the call; of several, the first that has one. Null: there is none.
mlir::FileLineColLoc positionOf(mlir::Location location);

} // namespace tiletwin::tt
