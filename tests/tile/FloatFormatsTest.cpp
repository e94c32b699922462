// tests/tile/FloatFormatsTest.cpp -- the scalar conversions of runtime/FloatFormats.h against the definition of each
// format: the value of a code from its fields, and rounding as a search for the nearest code.
#include "tests/tile/TileTest.h"
#include <algorithm>

using namespace tiletwin;
using namespace tiletwin::test;

namespace {

constexpr DType kSmall[] = {DType::F8E5M2,     DType::F8E4M3FN, DType::F8E4M3B11FNUZ, DType::F8E5M2FNUZ,
                            DType::F8E4M3FNUZ, DType::F16,      DType::BF16};

double valueOf(const SmallFloat& f, uint32_t magnitude) {
  const int exponent = int(magnitude >> f.mantissaBits), fraction = int(magnitude & ((1u << f.mantissaBits) - 1));
  return exponent ? std::ldexp(1.0 + std::ldexp(fraction, -f.mantissaBits), exponent - f.bias)
                  : std::ldexp(fraction, 1 - f.bias - f.mantissaBits);
}

} // namespace

BOOST_AUTO_TEST_CASE(codes_have_the_values_of_their_fields) {
  for (DType t : kSmall) {
    const SmallFloat f = smallFloat(t);
    const uint32_t sign = 1u << (f.bits - 1);
    int finite = 0;
    for (uint32_t code = 0; code < 1u << f.bits; ++code) {
      const float v = decodeSmallFloat(f, code);
      const uint32_t magnitude = code & (sign - 1);
      if (f.unsignedZero && code == sign)
        BOOST_CHECK(std::isnan(v));
      else if (magnitude <= f.maxFinite) {
        ++finite;
        const double expected = code & sign ? -valueOf(f, magnitude) : valueOf(f, magnitude);
        if (double(v) != expected || std::signbit(v) != bool(code & sign))
          BOOST_ERROR(kindOf(t) << " code " << code << " is " << v);
      } else if (f.infinity && magnitude == f.infinity)
        BOOST_CHECK(std::isinf(v) && std::signbit(v) == bool(code & sign));
      else
        BOOST_CHECK(std::isnan(v));
    }
    BOOST_TEST(finite > 0);
  }
  BOOST_TEST(f8ToF32(DType::F8E4M3FN, 0x7E) == 448.f);
  BOOST_TEST(f8ToF32(DType::F8E5M2, 0x7B) == 57344.f);
  BOOST_TEST(f8ToF32(DType::F8E4M3B11FNUZ, 0x7F) == 30.f);
  BOOST_TEST(f8ToF32(DType::F8E4M3FNUZ, 0x7F) == 240.f);
  BOOST_TEST(f8ToF32(DType::F8E5M2FNUZ, 0x7F) == 57344.f);
}

BOOST_AUTO_TEST_CASE(rounding_finds_the_nearest_code) {
  std::mt19937_64 random(1);
  for (DType t : kSmall) {
    const SmallFloat f = smallFloat(t);
    std::vector<double> values;
    for (uint32_t m = 0; m <= f.maxFinite; ++m) values.push_back(valueOf(f, m));
    const double beyond = 2 * values.back() - values[values.size() - 2]; // what the next code would be worth
    const auto check = [&](float v) {
      const double x = std::fabs(double(v));
      size_t below = size_t(std::upper_bound(values.begin(), values.end(), x) - values.begin()) - 1;
      const double above = below + 1 < values.size() ? values[below + 1] : beyond;
      size_t nearest = below;
      if (x - values[below] > above - x || (x - values[below] == above - x && below % 2 == 1)) ++nearest;
      uint32_t expected = nearest > f.maxFinite ? (f.saturates ? f.maxFinite : f.infinity) : uint32_t(nearest);
      uint32_t truncated = uint32_t(below);
      if (std::isinf(v)) {
        expected = f.saturates ? f.maxFinite : f.infinity;
        truncated = f.infinity ? f.infinity : f.maxFinite;
      }
      const uint32_t sign = std::signbit(v) ? 1u << (f.bits - 1) : 0;
      if (!(f.unsignedZero && expected == 0)) expected |= sign;
      if (!(f.unsignedZero && truncated == 0)) truncated |= sign;
      if (encodeSmallFloat(f, v) != expected)
        BOOST_ERROR(kindOf(t) << " nearest of " << v << ": " << encodeSmallFloat(f, v) << ", not " << expected);
      if (encodeSmallFloat(f, v, Rounding::TowardZero) != truncated) BOOST_ERROR(kindOf(t) << " truncated " << v);
    };
    for (float v : {0.f, -0.f, 1e-45f, -1e-45f, 1e-40f, INFINITY, -INFINITY, 3.4e38f, -3.4e38f}) check(v);
    for (size_t m = 0; m < values.size(); ++m) {
      const double above = m + 1 < values.size() ? values[m + 1] : beyond;
      if (above > 3.4e38) continue;
      const float half = float((values[m] + above) / 2), v = float(values[m]);
      for (float x : {half, std::nextafter(half, 0.f), std::nextafter(half, INFINITY), v, std::nextafter(v, INFINITY)})
        check(x), check(-x);
    }
    for (int i = 0; i < 20000; ++i) {
      const float v = std::bit_cast<float>(uint32_t(random()));
      if (!std::isnan(v)) check(v);
      check(float(std::ldexp(double(random() % 100000), int(random() % 48) - 40)));
    }
    BOOST_TEST(isNanCode(f, encodeSmallFloat(f, NAN)));
    BOOST_TEST(isNanCode(f, encodeSmallFloat(f, -NAN)));
  }
}

BOOST_AUTO_TEST_CASE(doubles_round_once_through_odd) {
  // 1 + 2^-11 + 2^-40 lies just above the middle of two f16 values; rounding to f32 first would lose the 2^-40.
  BOOST_TEST(encode(DType::F16, 1.0 + 0x1p-11 + 0x1p-40) == 0x3C01u);
  BOOST_TEST(f32ToF16(float(1.0 + 0x1p-11 + 0x1p-40)) == 0x3C00u);
  BOOST_TEST(f64ToF32Odd(1e300) == std::numeric_limits<float>::max());
  BOOST_TEST(f64ToF32Odd(1e-300) == 0x1p-149f);
  BOOST_TEST(f64ToF32Odd(-0x1.8p-149) == -0x1p-149f);
  BOOST_TEST(std::isnan(f64ToF32Odd(NAN)));
}

BOOST_AUTO_TEST_CASE(tf32_drops_thirteen_bits) {
  BOOST_TEST(f32ToTf32(1.0f + 0x1p-10f) == 1.0f + 0x1p-10f);
  BOOST_TEST(f32ToTf32(1.0f + 0x1.ffep-11f) == 1.0f);
  BOOST_TEST(std::isnan(f32ToTf32(std::bit_cast<float>(0x7F800001u))));
}
