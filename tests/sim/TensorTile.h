// tests/sim/TensorTile.h -- the operands of one step of a tensor core.
#pragma once
#include "sim/numerics/TensorCore.h"

namespace tiletwin::sim {

struct Tile {
  alignas(32) TileLine rows[kTileRows] = {}, columns[kTileColumns] = {};
};

} // namespace tiletwin::sim
