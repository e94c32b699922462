// sim/isa/Matrix.h -- 8 x 8 matrices of 16-bit elements between shared memory and the registers of a warp: ldmatrix, stmatrix,
// and movmatrix, which transposes one in registers.
// Not here:  wmma.load and wmma.store (Wmma.h).
#pragma once
#include "sim/isa/Decode.h"

namespace tiletwin::sim {

extern const std::span<const OpcodeRow> kMatrixOpcodes;

} // namespace tiletwin::sim
