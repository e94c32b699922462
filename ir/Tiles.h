// ir/Tiles.h -- what passes ask of a tile's definition. Not here: types and shapes (TT.h), runs of elements (Contiguity.h).
#pragma once
#include "ir/TT.h"

namespace tiletwin::tt {

/// True for a tile that one number fills: a splat, or a constant of equal elements.
bool isOneNumber(mlir::Value tile);
/// The first operation of the block in which a tile is made that uses it, or that contains such a use; null: none does. Notes do
/// not count.
mlir::Operation* firstUser(mlir::Value tile);

} // namespace tiletwin::tt
