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

} // namespace tiletwin::sim::special
