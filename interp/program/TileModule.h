// interp/program/TileModule.h -- the tile operations, or why there are none. tileOps() may be called after success.
#pragma once
#include "interp/tile/TileOps.h"
#include <string>

namespace tiletwin::interp {

/// Null if this CPU or installation has no tile module; *error then says why. Opened once per process.
const TwTileOps* findTileOps(std::string* error);

/// The tile operations for this CPU (chosen once per process). See tile/TileOps.h.
const TwTileOps& tileOps();

/// Where the modules are that this library opens.
std::string moduleDirectory();

} // namespace tiletwin::interp
