// tests/sim/TensorReference.h -- what a tensor core makes of one output, written with doubles: an independent witness for
// sim/numerics/TensorCore.cpp, which uses integers. Operands come as floats, exactly.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace tiletwin::sim {

struct ReferenceRule {
  int fractionBits = 25; ///< of aligned terms; 13 for fp8 of wgmma
  int resultBits = 23;   ///< 13 for fp8 of wgmma; 10: to the nearest f16
  int minOperand = -14;  ///< exponent of the smallest normal operands of A
  int minOperandB = -14; ///< and of B
};

inline int exponentOf(double x, int least) { return x == 0 ? -100000 : std::max(std::ilogb(x), least); }

inline float referenceRound(double exact, const ReferenceRule& rule) {
  if (exact == 0) return 0.0f;
  const bool isHalf = rule.resultBits == 10;
  const int e = std::max(std::ilogb(exact), isHalf ? -14 : -126);
  const double scaled = std::ldexp(exact, rule.resultBits - e); // |scaled| < 2^(resultBits + 1)
  const double kept = isHalf ? std::nearbyint(scaled) : std::trunc(scaled);
  const double value = std::ldexp(kept, e - rule.resultBits);
  if (std::fabs(value) >= (isHalf ? 65536.0 : 0x1p128)) return std::copysign(HUGE_VALF, float(exact));
  return float(value);
}

/// c + the sum of a[k] * b[k], all at once.
inline float referenceDot(std::span<const float> a, std::span<const float> b, float c, const ReferenceRule& rule) {
  const float nan = std::bit_cast<float>(0x7FFFFFFFu);
  double specials = c;
  bool anySpecial = !std::isfinite(c);
  int largest = c == 0 ? -126 : exponentOf(c, rule.resultBits == 10 ? -14 : -126);
  for (size_t k = 0; k < a.size(); ++k) {
    if (!std::isfinite(a[k]) || !std::isfinite(b[k])) {
      anySpecial = true;
      specials += double(a[k]) * double(b[k]);
    } else if (a[k] != 0 && b[k] != 0) {
      largest = std::max(largest, exponentOf(a[k], rule.minOperand) + exponentOf(b[k], rule.minOperandB));
    }
  }
  if (anySpecial) return std::isnan(specials) ? nan : float(specials);
  const double unit = std::ldexp(1.0, largest - rule.fractionBits);
  double sum = std::trunc(double(c) / unit);
  for (size_t k = 0; k < a.size(); ++k) sum += std::trunc(double(a[k]) * double(b[k]) / unit);
  return referenceRound(sum * unit, rule);
}

} // namespace tiletwin::sim
