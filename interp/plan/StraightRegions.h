// interp/plan/StraightRegions.h -- functions that tt.reduce and tt.scan combine with, without branches, before planning.
#pragma once
#include "mlir/IR/Operation.h"

namespace tiletwin::interp {

/// Whether straightenRegions() would change a function.
bool hasBranchingRegions(mlir::Operation* func);
/// Turns the blocks of such regions, which functions with several ways out leave, into one block: all of them are computed,
/// and selects choose what the way that is taken gives. Regions with loops stay as they are.
void straightenRegions(mlir::Operation* func);

} // namespace tiletwin::interp
