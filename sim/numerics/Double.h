// sim/numerics/Double.h -- f64 arithmetic as a GPU does it, in every rounding mode.
// Here:      add, subtract, multiply, fused multiply-add, divide, square root, minimum and maximum, as functions of values.
// Idea:      to nearest, the CPU's own operations. There is no wider type for the other modes: the one instruction runs between two
//            loads of the CPU's control word, all in one piece of assembly that the compiler cannot move anything into.
// Invariant: an invalid operation gives kNan64; a NaN operand comes out quiet with its payload: of several the
//            second one of a sum or product, and then the addend of a fused one; the first one of a quotient.
#pragma once
#include "sim/numerics/Rounding.h"
#include <immintrin.h>

namespace tiletwin::sim::binary64 {

inline double quiet(double x) { return doubleOf(bitsOf(x) | kQuiet64); }

/// The result with the NaN that the operands ask for.
inline double withNan(double r, double a) { return isNan(r) ? (isNan(a) ? quiet(a) : doubleOf(kNan64)) : r; }
inline double withNan(double r, double a, double b) { return isNan(r) ? (isNan(a) ? quiet(a) : withNan(r, b)) : r; }
inline double withNan(double r, double a, double b, double c) {
  return isNan(r) ? (isNan(a) ? quiet(a) : withNan(r, b, c)) : r;
}

/// MXCSR with all exceptions masked, and a rounding mode.
template <Round R>
inline constexpr uint32_t kControl = 0x1F80 | (R == Round::TowardZero ? 3u
                                               : R == Round::Down     ? 1u
                                               : R == Round::Up       ? 2u
                                                                      : 0u)
                                                  << 13;

/// One instruction in a rounding mode: in comes the destination, out the result; `from` is a further operand.
#define TILETWIN_ROUNDED(instruction, result, ...)                                                                     \
  const uint32_t control = kControl<R>, before = _mm_getcsr();                                                         \
  asm volatile("vldmxcsr %[control]\n\t" instruction "\n\tvldmxcsr %[before]"                                          \
               : [r] result                                                                                            \
               : [control] "m"(control), [before] "m"(before), __VA_ARGS__)

inline constexpr auto kAdd = []<Round R>(RoundConstant<R>, double a, double b) -> double {
  if constexpr (R == Round::NearestEven) return withNan(a + b, b, a);
  double r;
  TILETWIN_ROUNDED("vaddsd %[b], %[a], %[r]", "=&x"(r), [a] "x"(a), [b] "x"(b));
  return withNan(r, b, a);
};
inline constexpr auto kSub = []<Round R>(RoundConstant<R>, double a, double b) -> double {
  if constexpr (R == Round::NearestEven) return withNan(a - b, b, a);
  double r;
  TILETWIN_ROUNDED("vsubsd %[b], %[a], %[r]", "=&x"(r), [a] "x"(a), [b] "x"(b));
  return withNan(r, b, a);
};
inline constexpr auto kMul = []<Round R>(RoundConstant<R>, double a, double b) -> double {
  if constexpr (R == Round::NearestEven) return withNan(a * b, b, a);
  double r;
  TILETWIN_ROUNDED("vmulsd %[b], %[a], %[r]", "=&x"(r), [a] "x"(a), [b] "x"(b));
  return withNan(r, b, a);
};
inline constexpr auto kFma = []<Round R>(RoundConstant<R>, double a, double b, double c) -> double {
  if constexpr (R == Round::NearestEven) return withNan(__builtin_fma(a, b, c), b, c, a);
  double r = a;
  TILETWIN_ROUNDED("vfmadd213sd %[c], %[b], %[r]", "+x"(r), [b] "x"(b), [c] "x"(c));
  return withNan(r, b, c, a);
};
inline constexpr auto kDiv = []<Round R>(RoundConstant<R>, double a, double b) -> double {
  if constexpr (R == Round::NearestEven) return withNan(a / b, a, b);
  double r;
  TILETWIN_ROUNDED("vdivsd %[b], %[a], %[r]", "=&x"(r), [a] "x"(a), [b] "x"(b));
  return withNan(r, a, b);
};
inline constexpr auto kRcp = []<Round R>(RoundConstant<R>, double a) -> double {
  return kDiv(RoundConstant<R>(), 1.0, a);
};
inline constexpr auto kSqrt = []<Round R>(RoundConstant<R>, double a) -> double {
  if constexpr (R == Round::NearestEven) return withNan(__builtin_sqrt(a), a);
  double r;
  TILETWIN_ROUNDED("vsqrtsd %[a], %[a], %[r]", "=&x"(r), [a] "x"(a));
  return withNan(r, a);
};
#undef TILETWIN_ROUNDED

/// Sums on the GPU, with a negated or absolute operand: a NaN keeps its sign.
inline constexpr auto kNeg = [](double a) -> double { return isNan(a) ? quiet(a) : -a; };
inline constexpr auto kAbs = [](double a) -> double { return isNan(a) ? quiet(a) : doubleOf(bitsOf(a) & ~kSign64); };

/// min and max: -0 is below +0, a NaN gives the other operand, two give the second one.
template <bool Maximum>
inline constexpr auto kExtremum = [](double a, double b) -> double {
  double r = (Maximum ? a > b : a < b) ? a : b;
  if (a == b) r = doubleOf(Maximum ? bitsOf(a) & bitsOf(b) : bitsOf(a) | bitsOf(b));
  if (isNan(b)) r = isNan(a) ? quiet(b) : a;
  return r;
};

} // namespace tiletwin::sim::binary64
