// codegen/passes/CarriedIndices.h -- tiles of indices, and of pointers to lines, that a loop moves on: the tile as it began, and
// how far it has moved.
//
// Here:      which carried tiles are such a sum.
// Not here:  the layouts that this leaves open (LayoutChoice.h), pointers to blocks (AffineForm.h, ptx/LoopPointers.h).
//
// Idea: `offsets += BLOCK` makes a loop carry a tile, and a carried tile has one layout. Accesses want it in others: each
//       iteration would exchange it between threads, and what is computed from that could not be computed ahead. The tile
//       as it began can be had in any layout, and the distance is one number.
#pragma once
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Before tiles have layouts. Whole numbers wrap around, so that the results are the same.
void carryDistances(tt::FuncOp kernel);

} // namespace tiletwin::codegen
