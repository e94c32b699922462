// sim/numerics/SpecialTables.h -- the special function unit's coefficients (SpecialTables.cpp, measured on an H200).
// Not here:  how they are used (Special.h), where they come from (sim/data/fit_special.py).
#pragma once
#include <cstdint>

namespace tiletwin::sim::special {

/// C0 in 2^-20, C1 and C2 in halves of a unit in the last place.
struct Segment {
  int64_t c0;
  int32_t c1, c2;
};
extern const Segment kEx2[64];                    ///< 2^f
extern const Segment kRcp[128];                   ///< 1/m, m in [1, 2)
extern const Segment kRsqEven[64], kRsqOdd[64];   ///< 1/sqrt(m), 1/sqrt(2m)
extern const Segment kSqrtEven[64], kSqrtOdd[64]; ///< sqrt(m), sqrt(2m)
extern const Segment kLg2[64];                    ///< log2(m)
extern const Segment kSin[64];                    ///< sin of a quarter turn's parts
/// tanh(2^e m) / 2^e, e from -8 to 2, binade after binade; each has 2^segmentBits segments of kTanh.
struct TanhBinade {
  uint8_t first, segmentBits;
};
extern const Segment kTanh[51];
inline constexpr TanhBinade kTanhBinades[11] = {{0, 0},  {1, 0},  {2, 0},  {3, 1},  {5, 1}, {7, 2},
                                                {11, 2}, {15, 2}, {19, 3}, {27, 4}, {43, 3}};

} // namespace tiletwin::sim::special
