// sim/numerics/Single.h -- f32 arithmetic as a GPU does it, in every rounding mode.
// Here:      add, subtract, multiply, fused multiply-add, divide, square root, minimum and maximum, as functions of values.
// Not here:  approximations (Special.h), instructions (isa/Float.cpp).
// Idea:      the CPU rounds to nearest; the remainder of that, in f64, says whether another mode takes a neighbour. No rounding mode
//            of the CPU is touched, so that loops over lanes vectorise.
// Invariant: every result is correctly rounded and a NaN is kNan32 once kShaped is done; subnormal numbers are kept unless .ftz.
#pragma once
#include "sim/numerics/Rounding.h"
#include <cmath>

namespace tiletwin::sim::single {

/// a + b - nearest, or its sign at least: s + e is the exact sum of two doubles.
inline double restOfSum(double a, double b, float nearest) {
  const double s = a + b, bb = s - a, e = (a - (s - bb)) + (b - bb);
  return (s - double(nearest)) + e;
}

inline constexpr auto kAdd = []<Round R>(RoundConstant<R>, float a, float b) -> float {
  const float nearest = a + b;
  if constexpr (R == Round::NearestEven) return nearest;
  const float r = directed<R>(nearest, restOfSum(a, b, nearest));
  if constexpr (R != Round::Down) return r;
  // Zero as the sum of numbers of different signs is -0 when rounding down.
  return nearest == 0 && (bitsOf(a) != 0 || bitsOf(b) != 0) ? floatOf(kSign32) : r;
};
inline constexpr auto kSub = []<Round R>(RoundConstant<R>, float a, float b) -> float {
  return kAdd(RoundConstant<R>(), a, floatOf(bitsOf(b) ^ kSign32));
};
inline constexpr auto kMul = []<Round R>(RoundConstant<R>, float a, float b) -> float {
  const float nearest = a * b;
  if constexpr (R == Round::NearestEven) return nearest;
  return directed<R>(nearest, double(a) * double(b) - double(nearest));
};
inline constexpr auto kFma = []<Round R>(RoundConstant<R>, float a, float b, float c) -> float {
  const float nearest = __builtin_fmaf(a, b, c);
  if constexpr (R == Round::NearestEven) return nearest;
  const double product = double(a) * double(b); // exact
  const float r = directed<R>(nearest, restOfSum(product, c, nearest));
  if constexpr (R != Round::Down) return r;
  const bool zero = product + double(c) == 0 && nearest == 0;
  return zero && (bitsOf(product) != 0 || bitsOf(c) != 0) ? floatOf(kSign32) : r;
};
inline constexpr auto kDiv = []<Round R>(RoundConstant<R>, float a, float b) -> float {
  const float nearest = a / b;
  if constexpr (R == Round::NearestEven) return nearest;
  const double rest = double(a) - double(nearest) * double(b);
  return directed<R>(nearest, bitsOf(b) >> 31 ? -rest : rest);
};
inline constexpr auto kRcp = []<Round R>(RoundConstant<R>, float a) -> float {
  return kDiv(RoundConstant<R>(), 1.0f, a);
};
/// For .ftz, in a direction: a quotient that lies below 2^-126 once it is rounded to 24 bits is zero, though it would be 2^-126
/// rounded to a subnormal number.
inline constexpr auto kFlushedDiv = []<Round R>(RoundConstant<R>, float a, float b) -> float {
  const float r = kDiv(RoundConstant<R>(), a, b);
  if constexpr (R == Round::NearestEven) return r;
  const bool isTiny = std::fabs(double(a)) * 0x1p24 <= std::fabs(double(b)) * ((0x1p24 - 1) * 0x1p-126);
  return std::fabs(r) == 0x1p-126f && isTiny ? floatOf(bitsOf(r) & kSign32) : r;
};
inline constexpr auto kFlushedRcp = []<Round R>(RoundConstant<R>, float a) -> float {
  return kFlushedDiv(RoundConstant<R>(), 1.0f, a);
};
inline constexpr auto kSqrt = []<Round R>(RoundConstant<R>, float a) -> float {
  const float nearest = __builtin_sqrtf(a);
  if constexpr (R == Round::NearestEven) return nearest;
  return directed<R>(nearest, double(a) - double(nearest) * double(nearest));
};

inline constexpr auto kNeg = [](float a) -> float { return floatOf(bitsOf(a) ^ kSign32); };
inline constexpr auto kAbs = [](float a) -> float { return floatOf(bitsOf(a) & ~kSign32); };

/// min and max. -0 is below +0. A NaN gives the other operand, or with .NaN a NaN. With .xorsign.abs the magnitudes are
/// compared and the result has the product's sign.
template <bool Maximum, bool PropagatesNan, bool XorSign>
inline constexpr auto kExtremum = [](float a, float b) -> float {
  const uint32_t sign = (bitsOf(a) ^ bitsOf(b)) & kSign32;
  if constexpr (XorSign) a = kAbs(a), b = kAbs(b);
  const bool first = Maximum ? a > b : a < b;
  float r = first ? a : b;
  if (a == b) r = floatOf(Maximum ? bitsOf(a) & bitsOf(b) : bitsOf(a) | bitsOf(b));
  if (b != b) r = PropagatesNan ? b : a;
  if (a != a) r = PropagatesNan ? a : b;
  if constexpr (XorSign) r = floatOf(bitsOf(r) | sign);
  return r; // a NaN's sign is of no matter: it becomes kNan32
};

/// An operation with .ftz and .sat around it.
template <auto kOp, bool Ftz, bool Sat = false>
inline constexpr auto kShaped = []<class... A>(A... a) -> float {
  const float r = Ftz ? kOp(flushed(a)...) : kOp(a...);
  const float s = Sat ? saturated(r) : r;
  return canonical(Ftz ? flushed(s) : s);
};

} // namespace tiletwin::sim::single
