// interp/tile/LibrarySpecial.h -- libdevice functions that the C library lacks, in a type W wider than the result: double
// for f32, long double for f64. Errors are a few units in W's last place, far below one in the result's.
// Here:      inverse error functions, erfcx, normal distribution, I0 and I1, sin and cos of pi x, norms.
#pragma once
#include <cmath>
#include <limits>

namespace tiletwin::tile {

template <class W> inline constexpr W kPi = W(3.14159265358979323846264338327950288L);
template <class W> inline constexpr W kSqrtPi = W(1.77245385090551602729816748334114518L);
template <class W> inline constexpr W kSqrt2 = W(1.41421356237309504880168872420969808L);
template <class W> inline constexpr W kNan = std::numeric_limits<W>::quiet_NaN();
template <class W> inline constexpr W kInf = std::numeric_limits<W>::infinity();

/// x with erf(x) = y and erfc(x) = c, where c = 1 - y; y in (0, 1). The smaller of the two decides.
template <class W> W inverseErfPositive(W y, W c) {
  // A closed form good to 2e-3, then Newton's steps on erf (small y) or on log(erfc), which is nearly linear in x^2.
  constexpr W a = W(0.147);
  const W l = y < W(0.5) ? std::log1p(-y * y) : std::log(c * (1 + y)), b = 2 / (kPi<W> * a) + l / 2;
  W x = y < W(1e-3) ? y * kSqrtPi<W> / 2 : std::sqrt(std::sqrt(b * b - l / a) - b);
  for (int i = 0; i < 12; ++i) {
    const W slope = 2 / kSqrtPi<W> * std::exp(-x * x);
    W step;
    if (y < W(0.5)) {
      step = (std::erf(x) - y) / slope;
    } else {
      const W tail = std::erfc(x);
      step = -tail / slope * std::log(tail / c);
    }
    x -= step;
    if (std::fabs(step) <= x * std::numeric_limits<W>::epsilon() * 4) break;
  }
  return x;
}
template <class W> W inverseErf(W y) {
  if (!(std::fabs(y) < 1)) return std::fabs(y) == 1 ? std::copysign(kInf<W>, y) : kNan<W>;
  if (y == 0) return y;
  return std::copysign(inverseErfPositive<W>(std::fabs(y), 1 - std::fabs(y)), y);
}
/// x with erfc(x) = y. `y` comes from a narrower type, so 1 - y is exact where it matters.
template <class W> W inverseErfc(W y) {
  if (!(y > 0 && y < 2)) return y == 0 ? kInf<W> : y == 2 ? -kInf<W> : kNan<W>;
  if (y == 1) return 0;
  return y < 1 ? inverseErfPositive<W>(1 - y, y) : -inverseErfPositive<W>(y - 1, 2 - y);
}
template <class W> W normalCdf(W x) { return std::erfc(-x / kSqrt2<W>) / 2; }
template <class W> W normalCdfInverse(W p) { return -kSqrt2<W> * inverseErfc<W>(2 * p); }

/// e^(x^2), the square taken exactly.
template <class W> W expSquare(W x) {
  const W high = x * x, low = std::fma(x, x, -high);
  return std::exp(high) * (1 + low);
}
/// e^(x^2) erfc(x).
template <class W> W scaledErfc(W x) {
  if (x < 10) return x < W(-107) ? kInf<W> : expSquare(x) * std::erfc(x);
  if (!(x < kInf<W>)) return x > 0 ? W(0) : x;
  const W t = -1 / (2 * x * x);
  W term = 1, sum = 1;
  for (int k = 1; k < 24; ++k) {
    term *= t * W(2 * k - 1);
    sum += term;
  }
  return sum / (x * kSqrtPi<W>);
}

/// Modified Bessel function of order Nu (0 or 1): its power series, or the asymptotic one for large |x|.
template <int Nu, class W> W besselI(W x) {
  const W size = std::fabs(x);
  W value;
  if (!(size < kInf<W>)) {
    value = size;
  } else if (size < 40) {
    const W q = size * size / 4;
    W term = Nu ? size / 2 : W(1), sum = term;
    for (int k = 1; term > sum * std::numeric_limits<W>::epsilon() / 16; ++k) {
      term *= q / (W(k) * W(k + Nu));
      sum += term;
    }
    value = sum;
  } else {
    W term = 1, sum = 1;
    for (int k = 1; k < 60; ++k) {
      const W next = -term * (4 * Nu * Nu - W(2 * k - 1) * W(2 * k - 1)) / (8 * k * size);
      if (std::fabs(next) < std::numeric_limits<W>::epsilon() / 16) break;
      term = next;
      sum += term;
    }
    const W half = std::exp(size / 2); // no overflow before the result overflows
    value = half / std::sqrt(2 * kPi<W> * size) * sum * half;
  }
  return Nu ? std::copysign(value, x) : value;
}

/// sin(pi x) for Quadrant 0, cos(pi x) for 1.
template <int Quadrant, class W> W sinPi(W x) {
  if (!(std::fabs(x) < kInf<W>)) return kNan<W>;
  if (Quadrant == 0 && x == std::trunc(x)) return x * 0;
  const W reduced = x - 2 * std::nearbyint(x / 2); // exact, in [-1, 1]
  const W k = std::nearbyint(2 * reduced);         // quarter turns
  const W r = (reduced - k / 2) * kPi<W>;          // |r| <= pi/4
  const int q = (int(k) + Quadrant) & 3;
  const W y = q & 1 ? std::cos(r) : std::sin(r);
  return (q & 2 ? -y : y) + W(0);
}

/// sqrt(x^2 + y^2 + ...) in a type where squares of the arguments neither overflow nor vanish.
template <class W, class... T> W norm(T... x) {
  if (((std::fabs(W(x)) == kInf<W>) || ...)) return kInf<W>;
  return std::sqrt(((W(x) * W(x)) + ...));
}

} // namespace tiletwin::tile
