// tests/diff/CompareTest.cpp -- diff/Compare.h: when two elements are the same, within a bound, different, not comparable.
#define BOOST_TEST_MODULE compare
#include "diff/Compare.h"
#include "runtime/FloatFormats.h"
#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

using namespace tiletwin;
using diff::Comparison;
using diff::Verdict;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

template <class T> struct Ran {
  Comparison found;
  std::vector<Verdict> verdicts;
};
template <class T>
Ran<T> run(DType type, const std::vector<T>& a, const std::vector<T>& b, const std::vector<float>& bounds = {},
           bool isUnsigned = false) {
  BOOST_REQUIRE_EQUAL(a.size(), b.size());
  std::vector<uint8_t> out(a.size(), 255);
  diff::Compared arrays{a.data(), b.data(),   bounds.empty() ? nullptr : bounds.data(),
                        type,     isUnsigned, int64_t(a.size())};
  Ran<T> ran{diff::compare(arrays, out.data()), {}};
  for (uint8_t verdict : out) ran.verdicts.push_back(Verdict(verdict));
  const Comparison again = diff::compare(arrays);
  BOOST_TEST(again.different == ran.found.different);
  BOOST_TEST(again.first == ran.found.first);
  return ran;
}
Verdict one(float a, float b, float bound = 0) { return run<float>(DType::F32, {a}, {b}, {bound}).verdicts[0]; }

} // namespace

BOOST_AUTO_TEST_CASE(equal_values) {
  BOOST_TEST((one(1, 1) == Verdict::Same));
  BOOST_TEST((one(kNan, kNan) == Verdict::Same));
  BOOST_TEST((one(std::bit_cast<float>(0x7F800001u), std::bit_cast<float>(0xFFFFFFFFu)) == Verdict::Same));
  BOOST_TEST((one(0.0f, -0.0f) == Verdict::Same));
  BOOST_TEST((run<float>(DType::F32, {0.0f, 1}, {-0.0f, 1}).found.zeroSigns == 1));
  BOOST_TEST((one(kInfinity, kInfinity) == Verdict::Same));
}

BOOST_AUTO_TEST_CASE(unequal_values_under_bounds) {
  const float next = std::nextafter(1.0f, 2.0f), step = next - 1;
  BOOST_TEST((one(1, next) == Verdict::Different));
  BOOST_TEST((one(1, next, step) == Verdict::Within));
  BOOST_TEST((one(1, next, step / 2) == Verdict::Different));
  BOOST_TEST((one(1, 2, kInfinity) == Verdict::NotComparable));
  BOOST_TEST((one(1, 2, kNan) == Verdict::NotComparable));
  BOOST_TEST((one(1, 1, kNan) == Verdict::Same));
  BOOST_TEST((one(kNan, 1, 1e30f) == Verdict::Different));
  BOOST_TEST((one(1, kNan, 1e30f) == Verdict::Different));
  BOOST_TEST((one(kNan, 1, kInfinity) == Verdict::NotComparable));
  BOOST_TEST((one(kInfinity, -kInfinity, 1e30f) == Verdict::Different));
  BOOST_TEST((one(kInfinity, 1, 1e30f) == Verdict::Different));
  // One side has just overflowed.
  BOOST_TEST((one(kInfinity, std::numeric_limits<float>::max(), 0x1p104f) == Verdict::Within));
  BOOST_TEST((one(kInfinity, std::numeric_limits<float>::max()) == Verdict::Within));
}

BOOST_AUTO_TEST_CASE(counts_and_places) {
  const std::vector<float> a{1, 2, 3, kNan, 5, 6}, b{1, 2.5f, 3, kNan, 9, 6.5f};
  const std::vector<float> bounds{0, 1, 0, 0, 1, kInfinity};
  const Ran<float> ran = run<float>(DType::F32, a, b, bounds);
  BOOST_TEST(ran.found.elements == 6);
  BOOST_TEST(ran.found.same == 3);
  BOOST_TEST(ran.found.within == 1);
  BOOST_TEST(ran.found.different == 1);
  BOOST_TEST(ran.found.notComparable == 1);
  BOOST_TEST(ran.found.first == 4);
  BOOST_TEST(ran.found.firstNotComparable == 5);
  BOOST_TEST(ran.found.worst == 4);
  BOOST_TEST(ran.found.worstUlp ==
             diff::ulpDistance(DType::F32, std::bit_cast<uint32_t>(5.0f), std::bit_cast<uint32_t>(9.0f)));
}

BOOST_AUTO_TEST_CASE(integers) {
  BOOST_TEST((run<int32_t>(DType::I32, {-1}, {1}, {2}).verdicts[0] == Verdict::Within));
  BOOST_TEST((run<int32_t>(DType::I32, {-1}, {1}, {1}).verdicts[0] == Verdict::Different));
  BOOST_TEST((run<int32_t>(DType::I32, {INT32_MIN}, {INT32_MAX}).found.worstUlp == 0xFFFFFFFFu));
  // 0 - 1 is 255: numbers that may differ by one do so modulo 256.
  for (const bool isUnsigned : {false, true}) {
    BOOST_TEST((run<uint8_t>(DType::I8, {255}, {0}, {1}, isUnsigned).verdicts[0] == Verdict::Within));
    BOOST_TEST((run<uint8_t>(DType::I8, {254}, {0}, {1}, isUnsigned).verdicts[0] == Verdict::Different));
    BOOST_TEST((run<uint8_t>(DType::I8, {128}, {127}, {1}, isUnsigned).found.worstUlp == 1));
  }
  BOOST_TEST((run<uint8_t>(DType::I8, {255}, {0}, {}, true).found.worstUlp == 255));
  BOOST_TEST((run<int64_t>(DType::I64, {INT64_MIN}, {INT64_MAX}).found.worstUlp == ~uint64_t(0)));
}

BOOST_AUTO_TEST_CASE(distances_of_small_formats_count_codes) {
  // Walking from the most negative number to the largest one, each step is one unit; both zeros are one number.
  for (DType type : {DType::F16, DType::BF16, DType::F8E4M3FN, DType::F8E5M2, DType::F8E4M3FNUZ}) {
    const SmallFloat format = smallFloat(type);
    std::vector<std::pair<float, uint32_t>> numbers;
    for (uint32_t code = 0; code < (1u << format.bits); ++code) {
      const float value = decodeSmallFloat(format, code);
      if (std::isfinite(value)) numbers.emplace_back(value, code);
    }
    std::sort(numbers.begin(), numbers.end(), [](auto& x, auto& y) { return x.first < y.first; });
    uint64_t expected = 0;
    for (size_t i = 1; i < numbers.size(); ++i) {
      const bool zeros = numbers[i].first == numbers[i - 1].first;
      expected += !zeros;
      BOOST_REQUIRE_EQUAL(diff::ulpDistance(type, numbers[i - 1].second, numbers[i].second), zeros ? 0u : 1u);
      BOOST_REQUIRE_EQUAL(diff::ulpDistance(type, numbers[0].second, numbers[i].second), expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(large_arrays_agree_with_a_plain_loop) {
  std::mt19937 random(1);
  std::vector<float> a(100003), b, bounds(a.size());
  std::uniform_real_distribution<float> number(-1, 1);
  for (float& x : a) x = number(random);
  b = a;
  for (size_t i = 0; i < a.size(); i += 7) b[i] += number(random) * 1e-3f;
  for (float& x : bounds) x = 5e-4f;
  const Ran<float> ran = run<float>(DType::F32, a, b, bounds);
  int64_t different = 0, within = 0, first = -1;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    const bool fits = std::abs(double(a[i]) - double(b[i])) <= 5e-4f * 1.01;
    within += fits;
    if (!fits && different++ == 0) first = int64_t(i);
  }
  BOOST_TEST(different > 0);
  BOOST_TEST(ran.found.different == different);
  BOOST_TEST(ran.found.within == within);
  BOOST_TEST(ran.found.first == first);
}

BOOST_AUTO_TEST_CASE(speed) {
  std::vector<float> a(1 << 24, 1.0f), b(a.size(), std::nextafter(1.0f, 2.0f)), bounds(a.size(), 1.0f);
  diff::Compared arrays{a.data(), b.data(), bounds.data(), DType::F32, false, int64_t(a.size())};
  const auto start = std::chrono::steady_clock::now();
  const Comparison found = diff::compare(arrays);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  BOOST_TEST(found.within == int64_t(a.size()));
  BOOST_TEST_MESSAGE(double(a.size()) / seconds / 1e6 << " million elements of f32 a second");
  std::vector<uint16_t> c(a.size(), 0x3C00), d(a.size(), 0x3C01);
  diff::Compared halves{c.data(), d.data(), bounds.data(), DType::F16, false, int64_t(a.size())};
  const auto again = std::chrono::steady_clock::now();
  BOOST_TEST(diff::compare(halves).within == int64_t(a.size()));
  const double later = std::chrono::duration<double>(std::chrono::steady_clock::now() - again).count();
  BOOST_TEST_MESSAGE(double(a.size()) / later / 1e6 << " million elements of f16 a second");
}
