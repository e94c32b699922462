// sim/isa/Mma.h -- mma.sync: products of matrices whose elements lie in the registers of a warp.
// Not here:  fragments' layouts (MatrixFragment.h), wmma (Wmma.h), wgmma (Wgmma.h), loads of fragments (Matrix.h).
#pragma once
#include "sim/isa/Decode.h"

namespace tiletwin::sim {

extern const std::span<const OpcodeRow> kMmaOpcodes;

} // namespace tiletwin::sim
