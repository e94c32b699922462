// interp/plan/Regions.h -- what is done to operations with regions before a function is planned (MapOps.cpp,
// StraightRegions.cpp).
#pragma once
#include "mlir/IR/Operation.h"

namespace tiletwin::interp {

/// Whether liftMaps() would change a function.
bool hasLiftableMaps(mlir::Operation* func);
/// Turns every tt.map_elementwise whose region may run on whole tiles into operations on tiles.
void liftMaps(mlir::Operation* func);

/// Whether straightenRegions() would change a function.
bool hasBranchingRegions(mlir::Operation* func);
/// Turns the blocks of functions that tt.reduce and tt.scan combine with, if they have several ways out, into one block: all
/// blocks are computed, and selects choose what the way that is taken gives. Regions with loops stay as they are.
void straightenRegions(mlir::Operation* func);

} // namespace tiletwin::interp
