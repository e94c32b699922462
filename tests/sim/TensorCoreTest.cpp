// tests/sim/TensorCoreTest.cpp -- sums of products of floats as an H200 gave them, and against a second implementation on edge
// values.
// Not here:  integers, bits and f64 (TensorIntegerTest.cpp).
#define BOOST_TEST_MODULE sim_tensor_core
#include "sim/numerics/TensorCore.h"
#include "runtime/FloatFormats.h"
#include "tests/sim/TensorReference.h"
#include "tests/sim/TensorTile.h"
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <fstream>
#include <random>
#include <string>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

float valueOf(TensorFloat format, uint32_t code) {
  switch (format) {
  case TensorFloat::F16: return decodeSmallFloat(kF16, code);
  case TensorFloat::BF16: return decodeSmallFloat(kBF16, code);
  case TensorFloat::TF32: return std::bit_cast<float>(code & 0xFFFFE000u);
  case TensorFloat::E4M3: return decodeSmallFloat(kF8E4M3FN, code);
  case TensorFloat::E5M2: return decodeSmallFloat(kF8E5M2, code);
  }
  return 0;
}
int minExponent(TensorFloat format) {
  return format == TensorFloat::E4M3 ? -6 : format == TensorFloat::F16 || format == TensorFloat::E5M2 ? -14 : -126;
}
bool isNarrow(TensorFloat format) { return bitsOf(format) == 8; }

/// Compares bits; all NaNs here have one code.
bool same(float x, float y) { return std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y); }

// ---- What an H200 gave ---------------------------------------------------------------------------------------------------------

struct Dot {
  std::string name;
  uint32_t m, n, k, bytes;
  std::vector<std::byte> a, b, c, out; // a[m][k], b[n][k]
};

std::vector<Dot> recordedDots() {
  auto& suite = boost::unit_test::framework::master_test_suite();
  std::ifstream file(suite.argc > 1 ? std::string(suite.argv[1]) : std::string(TILETWIN_TEST_DATA "/sim/dots_h200.bin"),
                     std::ios::binary);
  BOOST_REQUIRE(file);
  const auto number = [&] {
    uint32_t x = 0;
    file.read(reinterpret_cast<char*>(&x), 4);
    return x;
  };
  const auto bytes = [&](size_t count) {
    std::vector<std::byte> x(count);
    file.read(reinterpret_cast<char*>(x.data()), std::streamsize(count));
    return x;
  };
  char magic[8];
  file.read(magic, 8);
  BOOST_REQUIRE(std::string_view(magic, 8) == "TWDOTS1\n");
  std::vector<Dot> dots(number());
  for (Dot& dot : dots) {
    dot.name.resize(number());
    file.read(dot.name.data(), std::streamsize(dot.name.size()));
    dot.m = number(), dot.n = number(), dot.k = number(), dot.bytes = number();
    dot.a = bytes(size_t(dot.m) * dot.k * dot.bytes), dot.b = bytes(size_t(dot.n) * dot.k * dot.bytes);
    dot.c = bytes(size_t(dot.m) * dot.n * 4), dot.out = bytes(size_t(dot.m) * dot.n * 4);
  }
  BOOST_REQUIRE(file);
  return dots;
}

/// Elements k0 to k0 + (32 bytes or less) of 16 rows and 8 columns.
Tile tileOf(const Dot& dot, uint32_t m0, uint32_t n0, uint32_t k0) {
  Tile tile;
  const size_t count = std::min<size_t>(kTileBytes, (dot.k - k0) * dot.bytes);
  for (uint32_t i = 0; i < kTileRows; ++i)
    std::memcpy(tile.rows[i], dot.a.data() + ((m0 + i) * dot.k + k0) * dot.bytes, count);
  for (uint32_t i = 0; i < kTileColumns; ++i)
    std::memcpy(tile.columns[i], dot.b.data() + ((n0 + i) * dot.k + k0) * dot.bytes, count);
  return tile;
}

using Sums = float[kTileRows][kTileColumns];

void addFloats(TensorFloat format, const Tile& tile, Sums& sums) {
  TensorRows a;
  TensorColumns b;
  const int terms = kTileBytes * 8 / bitsOf(format);
  unpackRows(format, tile.rows, kTileRows, terms, a);
  unpackColumns(format, tile.columns, terms, b);
  addProducts(format, Accumulator::F32, a, kTileRows, b, terms, sums);
}

void addWidened(TensorFloat format, const Tile& tile, Sums& sums) {
  Tile first, second;
  widenFp8(format, tile.rows, kTileRows, first.rows, second.rows);
  widenFp8(format, tile.columns, kTileColumns, first.columns, second.columns);
  addFloats(TensorFloat::F16, first, sums);
  addFloats(TensorFloat::F16, second, sums);
}

/// A tile of a dot as the kernel computed it: fp8 by mma.sync was widened to f16 by the kernel; by wgmma a partial sum of `imprecise` elements of k
/// starts from zero and is added to the accumulator with rounding to nearest.
void computeTile(const Dot& dot, TensorFloat format, bool widened, uint32_t imprecise, uint32_t m0, uint32_t n0,
                 Sums& sums) {
  const uint32_t step = kTileBytes / dot.bytes;
  Sums partial = {};
  for (uint32_t k0 = 0; k0 < dot.k; k0 += step) {
    const Tile tile = tileOf(dot, m0, n0, k0);
    if (!isNarrow(format)) {
      addFloats(format, tile, sums);
    } else if (widened) {
      addWidened(format, tile, sums);
    } else {
      addFloats(format, tile, partial);
      if ((k0 + step) % imprecise && k0 + step < dot.k) continue;
      for (int i = 0; i < kTileRows; ++i)
        for (int j = 0; j < kTileColumns; ++j) sums[i][j] += partial[i][j], partial[i][j] = 0;
    }
  }
}

uint32_t checkDot(const Dot& dot) {
  const bool isWgmma = dot.name.starts_with("wgmma_");
  const std::string type = dot.name.substr(isWgmma ? 6 : 4, dot.name.find('_', isWgmma ? 6 : 4) - (isWgmma ? 6 : 4));
  const size_t imp = dot.name.find("imp");
  const uint32_t imprecise = imp == std::string::npos ? 0 : uint32_t(std::stoi(dot.name.substr(imp + 3)));
  const TensorFloat format = type == "f16"    ? TensorFloat::F16
                             : type == "bf16" ? TensorFloat::BF16
                             : type == "tf32" ? TensorFloat::TF32
                             : type == "e5"   ? TensorFloat::E5M2
                                              : TensorFloat::E4M3;
  uint32_t wrong = 0;
  for (uint32_t m0 = 0; m0 < dot.m; m0 += kTileRows)
    for (uint32_t n0 = 0; n0 < dot.n; n0 += kTileColumns) {
      uint32_t got[kTileRows][kTileColumns];
      for (int i = 0; i < kTileRows; ++i) std::memcpy(got[i], dot.c.data() + ((m0 + uint32_t(i)) * dot.n + n0) * 4, 32);
      if (type == "i8") {
        for (uint32_t k0 = 0; k0 < dot.k; k0 += kTileBytes) {
          const Tile tile = tileOf(dot, m0, n0, k0);
          addIntegerProducts({}, {}, true, tile.rows, kTileRows, tile.columns, kTileBytes / 4,
                             reinterpret_cast<int32_t (*)[kTileColumns]>(got));
        }
      } else {
        Sums sums;
        std::memcpy(sums, got, sizeof sums);
        computeTile(dot, format, imprecise == 0, imprecise, m0, n0, sums);
        std::memcpy(got, sums, sizeof sums);
      }
      for (uint32_t i = 0; i < kTileRows; ++i)
        for (uint32_t j = 0; j < kTileColumns; ++j)
          wrong += std::memcmp(&got[i][j], dot.out.data() + ((m0 + i) * dot.n + n0 + j) * 4, 4) != 0;
    }
  return wrong;
}

// ---- Edge values ----------------------------------------------------------------------------------------------------------------

/// Codes with many zeros, subnormals, extremes, infinities and NaNs; `plain`: none of the last two.
uint32_t randomCode(TensorFloat format, std::mt19937& random, bool plain) {
  const uint32_t bits = uint32_t(bitsOf(format)), mask = bits == 32 ? ~0u : (1u << bits) - 1;
  const uint32_t fraction = format == TensorFloat::TF32   ? 23
                            : format == TensorFloat::BF16 ? 7
                            : format == TensorFloat::F16  ? 10
                            : format == TensorFloat::E4M3 ? 3
                                                          : 2;
  for (;;) {
    uint32_t code = uint32_t(random()) & mask;
    const uint32_t sign = code & (1u << (bits - 1));
    switch (random() % 8) {
    case 0: code = sign; break;
    case 1: code = sign | (code & ((1u << fraction) - 1)); break;                                // subnormal
    case 2: code = sign | (mask >> 1 & ~((1u << fraction) - 1)) | (random() % 4 ? 0 : 1); break; // top exponent
    case 3: code = sign | ((1u << (bits - 2)) + (code & ((4u << fraction) - 1))); break;         // around 1
    default: break;
    }
    if (!plain || std::isfinite(valueOf(format, code))) return code;
  }
}

float randomAccumulator(Accumulator type, std::mt19937& random, bool plain) {
  for (;;) {
    const float c = type == Accumulator::F16
                        ? valueOf(TensorFloat::F16, randomCode(TensorFloat::F16, random, plain))
                        : std::bit_cast<float>(random() % 8 ? uint32_t(random()) : uint32_t(random()) & 0x807FFFFFu);
    if (!plain || std::isfinite(c)) return c;
  }
}

void put(TileLine& line, TensorFloat format, int k, uint32_t code) {
  std::memcpy(line + size_t(k * bitsOf(format) / 8), &code, size_t(bitsOf(format) / 8));
}

struct Rule {
  TensorFloat a, b;
  Accumulator accumulator;
  int terms;
};

enum class Values { Finite, Any, Tiny };

/// Tiny: products that meet f32's subnormals, where the format has such.
uint32_t operandCode(TensorFloat format, std::mt19937& random, Values values) {
  for (;;) {
    const uint32_t code = randomCode(format, random, values != Values::Any || random() % 64);
    if (values != Values::Tiny || std::fabs(valueOf(format, code)) < 0x1p-60f || minExponent(format) > -126)
      return code;
  }
}

/// Random operands through both implementations. Returns how many outputs were NaN, infinite, subnormal.
std::array<int, 3> compareWithReference(const Rule& rule, std::mt19937& random, Values values) {
  Tile tile;
  float a[kTileRows][kMaxTerms], b[kTileColumns][kMaxTerms];
  for (int i = 0; i < kTileRows; ++i)
    for (int k = 0; k < rule.terms; ++k) {
      const uint32_t code = operandCode(rule.a, random, values);
      put(tile.rows[i], rule.a, k, code), a[i][k] = valueOf(rule.a, code);
    }
  for (int j = 0; j < kTileColumns; ++j)
    for (int k = 0; k < rule.terms; ++k) {
      const uint32_t code = operandCode(rule.b, random, values);
      put(tile.columns[j], rule.b, k, code), b[j][k] = valueOf(rule.b, code);
    }
  Sums sums, before;
  for (auto& row : sums)
    for (float& c : row) {
      c = randomAccumulator(rule.accumulator, random, values != Values::Any || random() % 16);
      if (values == Values::Tiny && rule.accumulator == Accumulator::F32) c = random() % 2 ? c * 0x1p-126f : 0;
    }
  std::memcpy(before, sums, sizeof sums);
  TensorRows rows;
  TensorColumns columns;
  unpackRows(rule.a, tile.rows, kTileRows, rule.terms, rows);
  unpackColumns(rule.b, tile.columns, rule.terms, columns);
  addProducts(rule.a, rule.accumulator, rows, kTileRows, columns, rule.terms, sums);
  const bool isHalf = rule.accumulator == Accumulator::F16, narrow = isNarrow(rule.a);
  const ReferenceRule reference{narrow ? 13 : 25,
                                isHalf   ? 10
                                : narrow ? 13
                                         : 23,
                                minExponent(rule.a), minExponent(rule.b)};
  std::array<int, 3> seen{};
  for (int i = 0; i < kTileRows; ++i)
    for (int j = 0; j < kTileColumns; ++j) {
      const float expected =
          referenceDot({a[i], size_t(rule.terms)}, {b[j], size_t(rule.terms)}, before[i][j], reference);
      seen[0] += std::isnan(expected), seen[1] += std::isinf(expected);
      seen[2] += expected != 0 && std::fabs(expected) < (isHalf ? 0x1p-14f : 0x1p-126f);
      if (!same(sums[i][j], expected)) {
        BOOST_ERROR("row " << i << ", column " << j << ": " << sums[i][j] << ", expected " << expected << ", c "
                           << before[i][j]);
        return seen;
      }
    }
  return seen;
}

/// One output with everything else zero.
float oneOutput(TensorFloat format, Accumulator accumulator, std::vector<std::pair<uint32_t, uint32_t>> terms,
                float c) {
  Tile tile;
  for (size_t k = 0; k < terms.size(); ++k)
    put(tile.rows[0], format, int(k), terms[k].first), put(tile.columns[0], format, int(k), terms[k].second);
  Sums sums = {};
  sums[0][0] = c;
  TensorRows a;
  TensorColumns b;
  const int count = kTileBytes * 8 / bitsOf(format);
  unpackRows(format, tile.rows, kTileRows, count, a);
  unpackColumns(format, tile.columns, count, b);
  addProducts(format, accumulator, a, kTileRows, b, count, sums);
  return sums[0][0];
}

} // namespace

BOOST_AUTO_TEST_CASE(recorded_dots) {
  const std::vector<Dot> dots = recordedDots();
  BOOST_TEST(dots.size() == 49);
  for (const Dot& dot : dots) BOOST_TEST(checkDot(dot) == 0u, dot.name << ": " << checkDot(dot) << " outputs differ");
}

BOOST_AUTO_TEST_CASE(against_reference) {
  std::mt19937 random(7);
  const Rule rules[] = {
      {TensorFloat::F16, TensorFloat::F16, Accumulator::F32, 16},
      {TensorFloat::F16, TensorFloat::F16, Accumulator::F32, 8},
      {TensorFloat::F16, TensorFloat::F16, Accumulator::F16, 16},
      {TensorFloat::BF16, TensorFloat::BF16, Accumulator::F32, 16},
      {TensorFloat::BF16, TensorFloat::BF16, Accumulator::F32, 8},
      {TensorFloat::TF32, TensorFloat::TF32, Accumulator::F32, 8},
      {TensorFloat::E4M3, TensorFloat::E4M3, Accumulator::F32, 32},
      {TensorFloat::E5M2, TensorFloat::E4M3, Accumulator::F32, 32},
      {TensorFloat::E5M2, TensorFloat::E5M2, Accumulator::F32, 32},
      {TensorFloat::E4M3, TensorFloat::E5M2, Accumulator::F16, 32},
  };
  std::array<int, 3> all{};
  for (const Rule& rule : rules)
    for (int round = 0; round < 200; ++round) {
      const auto seen = compareWithReference(rule, random, Values(round % 3));
      for (size_t i = 0; i < 3; ++i) all[i] += seen[i];
    }
  // The comparison is worth something only if it met every kind of result.
  BOOST_TEST(all[0] > 1000);
  BOOST_TEST(all[1] > 1000);
  BOOST_TEST(all[2] > 100);
}

BOOST_AUTO_TEST_CASE(known_results) {
  constexpr uint32_t one = 0x3C00, minusOne = 0xBC00, infinity = 0x7C00, nan = 0x7E00;
  const auto f16 = [](std::vector<std::pair<uint32_t, uint32_t>> terms, float c) {
    return std::bit_cast<uint32_t>(oneOutput(TensorFloat::F16, Accumulator::F32, std::move(terms), c));
  };
  BOOST_TEST(f16({{one, one}}, 1.0f) == 0x40000000u);
  BOOST_TEST(f16({{nan, one}}, 1.0f) == 0x7FFFFFFFu);
  BOOST_TEST(f16({{infinity, 0}}, 1.0f) == 0x7FFFFFFFu);
  BOOST_TEST(f16({{infinity, one}, {infinity, minusOne}}, 1.0f) == 0x7FFFFFFFu);
  BOOST_TEST(f16({{infinity, minusOne}}, HUGE_VALF) == 0x7FFFFFFFu);
  BOOST_TEST(f16({{infinity, minusOne}}, 1.0f) == 0xFF800000u);
  BOOST_TEST(f16({}, -0.0f) == 0u);                                      // a sum of zeros is +0
  BOOST_TEST(f16({{one, minusOne}}, 1.0f) == 0u);                        // and so is one that cancels
  BOOST_TEST(f16({{one, one}}, std::ldexp(1.0f, -30)) == 0x3F800000u);   // 2^-30 lies below 2^(0 - 25)
  BOOST_TEST(f16({{one, 0x0400}, {one, 0x0400}}, -1.0f) == 0xBF7FF800u); // -1 + 2^-13
  BOOST_TEST(f16({}, 0x1p-149f) == 1u);                                  // subnormal accumulators stay
  BOOST_TEST(f16({{one, 0x8001}}, 1.0f) == 0x3F7FFFFFu);                 // 1 - 2^-24, toward zero
  const uint32_t large = 0x7F7F;                                         // the largest bf16
  BOOST_TEST(oneOutput(TensorFloat::BF16, Accumulator::F32, {{large, large}}, 0) == HUGE_VALF);
  BOOST_TEST(oneOutput(TensorFloat::F16, Accumulator::F16, {{0x7BFF, one}, {0x4C00, one}}, 0) ==
             HUGE_VALF); // 65504 + 16
  BOOST_TEST(oneOutput(TensorFloat::F16, Accumulator::F16, {{0x7BFF, one}, {0x4BFF, one}}, 0) == 65504.0f);
}

BOOST_AUTO_TEST_CASE(columns_from_elements) {
  std::mt19937 random(3);
  for (TensorFloat format : {TensorFloat::F16, TensorFloat::BF16}) {
    Tile tile;
    uint16_t elements[16][kTileColumns];
    for (int k = 0; k < 16; ++k)
      for (int n = 0; n < kTileColumns; ++n) {
        elements[k][n] = uint16_t(random());
        std::memcpy(tile.columns[n] + 2 * k, &elements[k][n], 2);
      }
    TensorColumns x, y;
    unpackColumns(format, tile.columns, 16, x);
    unpackColumns(format, elements, 16, y);
    BOOST_TEST(std::memcmp(x.significand, y.significand, 16 * 32) == 0);
    BOOST_TEST(std::memcmp(x.exponent, y.exponent, 16 * 32) == 0);
    BOOST_TEST(std::memcmp(x.sign, y.sign, 16 * 32) == 0);
    BOOST_TEST(x.special == y.special);
  }
}
