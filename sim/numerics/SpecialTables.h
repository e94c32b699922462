// sim/numerics/SpecialTables.h -- the special function unit's coefficients: sim/data/special_tables.bin, measured on an H200.
// Not here:  how they are used (Special.h), where they come from (sim/data/fit_special.py).
#pragma once
#include <cstdint>

namespace tiletwin::sim::special {

/// C0 in 2^-20, C1 and C2 in halves of a unit in the last place.
struct Segment {
  int64_t c0;
  int32_t c1, c2;
};
/// All tables, one behind the other in the order of the file.
extern "C" const Segment tw_special_segments[627];
inline constexpr const Segment* kEx2 = tw_special_segments;                           ///< 2^f
inline constexpr const Segment* kRcp = kEx2 + 64;                                     ///< 1/m, m in [1, 2)
inline constexpr const Segment *kRsqEven = kRcp + 128, *kRsqOdd = kRsqEven + 64;      ///< 1/sqrt(m), 1/sqrt(2m)
inline constexpr const Segment *kSqrtEven = kRsqOdd + 64, *kSqrtOdd = kSqrtEven + 64; ///< sqrt(m), sqrt(2m)
inline constexpr const Segment* kLg2 = kSqrtOdd + 64;                                 ///< log2(m)
inline constexpr const Segment* kSin = kLg2 + 64;                                     ///< sin of a quarter turn's parts
inline constexpr const Segment* kTanh = kSin + 64;                                    ///< see TanhBinade
/// tanh(2^e m) / 2^e, e from -8 to 2, binade after binade; each has 2^segmentBits segments of kTanh.
struct TanhBinade {
  uint8_t first, segmentBits;
};
inline constexpr TanhBinade kTanhBinades[11] = {{0, 0},  {1, 0},  {2, 0},  {3, 1},  {5, 1}, {7, 2},
                                                {11, 2}, {15, 2}, {19, 3}, {27, 4}, {43, 3}};

} // namespace tiletwin::sim::special
