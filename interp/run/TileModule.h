// interp/run/TileModule.h -- the tile operations, or why there are none. tileOps() (Frame.h) may be called after success.
#pragma once
#include "interp/tile/TileOps.h"
#include <string>

namespace tiletwin::interp {

/// Null if this CPU or installation has no tile module; *error then says why. Opened once per process.
const TwTileOps* findTileOps(std::string* error);

/// Where the modules are that this library opens.
std::string moduleDirectory();

} // namespace tiletwin::interp
