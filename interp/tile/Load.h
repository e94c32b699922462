// interp/tile/Load.h -- finds and opens the tile module for this CPU.
// Here:      the choice of instruction set and its error texts.
// Not here:  the operations (the modules themselves, TileOps.h).
#pragma once
#include "interp/tile/TileOps.h"
#include <string>

namespace tiletwin {

/// Opens `tiletwin_tile_v4.so` (CPU with AVX-512 F, BW, CD, DQ, VL) or `tiletwin_tile_v3.so` (AVX2, FMA, F16C, BMI1/2)
/// in `directory` and returns its table, valid for the rest of the process. TILETWIN_ISA=v3|v4 overrides the choice. On
/// failure returns null and says in *error what is wrong and what to do. Safe to call from several threads.
const TwTileOps* loadTileOps(const std::string& directory, std::string* error);
/// Which of them that is, "v4" or "v3"; null, with *error set, as above.
const char* tileLevel(std::string* error);

} // namespace tiletwin
