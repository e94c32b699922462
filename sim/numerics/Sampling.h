// sim/numerics/Sampling.h -- what a texture gives at a place: addressing, filtering, conversion.
// Not here:  instructions (isa/Texture.cpp), images (sim/numerics/Texture.h).
// Source:    "CUDA C++ Programming Guide", NVIDIA, appendix "Texture Fetching", for the formulas. What it leaves open is as an H200
//            did it at 25,000 places (tests/data/sim/textures_h200.npz): a place is rounded to a multiple of 1/256 of a texel, half
//            upwards; weights are multiples of 1/256 too, which z, x and y divide one after the other (Sampling.cpp); the sum is exact, of
//            halves after these were cut beside the largest, and rounded once, half away from zero, to the texel's type: f32,
//            f16, or steps of 1/65535 (signed: 1/32767). All 25,600 results have an H200's bits.
#pragma once
#include "sim/numerics/Texture.h"

namespace tiletwin::sim {

/// A texel's channels, as the instruction's 32-bit results hold them: floats, or integers of the texel's own type, widened.
using Texel = std::array<uint32_t, 4>;

struct SamplePlace {
  std::array<float, 3> at{};
  int layer = 0;
  float level = 0;
};

/// A filtered or plain fetch. Cubes take a direction.
Texel sample(const Texture& texture, const SamplePlace& place);
/// A fetch by index (tex with integer coordinates): what lies outside is 0.
Texel fetch(const Texture& texture, std::array<int, 3> at, int layer, int level);
/// The four texels that a filter would take, one channel of each, in the order of tld4: (0,1), (1,1), (1,0), (0,0).
Texel gather(const Texture& texture, const SamplePlace& place, int channel);

} // namespace tiletwin::sim
