// interp/plan/MapOps.h -- tt.map_elementwise before planning.
#pragma once
#include "mlir/IR/Operation.h"

namespace tiletwin::interp {

/// Whether liftMaps() would change a function.
bool hasLiftableMaps(mlir::Operation* func);
/// Turns every tt.map_elementwise whose region may run on whole tiles into operations on tiles.
void liftMaps(mlir::Operation* func);

} // namespace tiletwin::interp
