#include "sim/numerics/Special.h"
#include <mutex>
#include <vector>

namespace tiletwin::sim::special {

const uint16_t* squares = nullptr;

void prepare() {
  static std::once_flag once;
  std::call_once(once, [] {
    static std::vector<uint16_t> table(1 << 17);
    // Adding a leading bit h adds its products with the lower bits, and its own square. Columns below 2^19 of 2^34 are dropped.
    for (uint32_t h = 0; h < 17; ++h)
      for (uint32_t low = 0; low < 1u << h; ++low) {
        const uint32_t kept = h >= 18 ? low : low >> (18 - h) << (18 - h);
        const uint64_t products = (uint64_t(kept) << (h + 1)) + (2 * h >= 19 ? uint64_t(1) << (2 * h) : 0);
        table[1u << h | low] = uint16_t(table[low] + (products >> 19));
      }
    squares = table.data();
  });
}

namespace {

/// What the unit gives for a NaN.
constexpr uint64_t kUpperNan64 = uint64_t(0x7FFFFFFF) << 32;

/// The number that an f64's upper word stands for.
double upperWord(double x) { return doubleOf(bitsOf(x) >> 32 << 32); }

/// The value of an f32 times 2^exponent, with the low word cut off; zero where that is subnormal.
double scaled(float y, int exponent) {
  const double r = std::ldexp(double(y), exponent);
  return std::fabs(r) < 0x1p-1022 ? std::copysign(0.0, r) : upperWord(r);
}

} // namespace

double rcp64(double x) {
  const double a = upperWord(x);
  if (isNan(a)) return doubleOf(kUpperNan64);
  const int field = int(bitsOf(a) >> 52 & 0x7FF);
  if (field == 0) return doubleOf((bitsOf(a) & kSign64) | kInfinity64);
  if (field == 0x7FF) return doubleOf(bitsOf(a) & kSign64);
  const double m = std::ldexp(a, 1023 - field);
  return scaled(rcp(float(m)), 1023 - field);
}

double rsqrt64(double x) {
  const double a = upperWord(x);
  if (isNan(a)) return doubleOf(kUpperNan64);
  const int field = int(bitsOf(a) >> 52 & 0x7FF);
  if (field == 0) return doubleOf((bitsOf(a) & kSign64) | kInfinity64);
  if (a < 0) return doubleOf(kUpperNan64);
  if (field == 0x7FF) return 0;
  const int e = field - 1023, half = (e - (e & 1)) / 2;
  return scaled(rsqrt(float(std::ldexp(a, -2 * half))), -half);
}

} // namespace tiletwin::sim::special
