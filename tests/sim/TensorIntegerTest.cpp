// tests/sim/TensorIntegerTest.cpp -- sums of products of integers, bits and f64, against plain loops.
// Not here:  floats (TensorCoreTest.cpp).
#define BOOST_TEST_MODULE sim_tensor_integer
#include "tests/sim/TensorTile.h"
#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace tiletwin::sim;

BOOST_AUTO_TEST_CASE(integers) {
  std::mt19937 random(11);
  const auto element = [](const TileLine& line, IntegerFormat format, int k) -> int64_t {
    const int bit = k * format.bits;
    const int raw = int(uint8_t(line[bit / 8])) >> bit % 8 & ((1 << format.bits) - 1);
    return format.isSigned && raw >> (format.bits - 1) ? raw - (1 << format.bits) : raw;
  };
  int clamped = 0, wrapped = 0;
  for (int bits : {4, 8})
    for (int signs = 0; signs < 4; ++signs)
      for (int saturate = 0; saturate < 2; ++saturate)
        for (int words : {4, 8}) {
          const IntegerFormat fa{bits, (signs & 1) != 0}, fb{bits, (signs & 2) != 0};
          Tile tile;
          for (auto& line : tile.rows)
            for (auto& byte : line) byte = std::byte(random() % 3 ? random() : random() % 2 ? 0x80 : 0x7F);
          for (auto& line : tile.columns)
            for (auto& byte : line) byte = std::byte(random() % 3 ? random() : random() % 2 ? 0x80 : 0xFF);
          int32_t sums[kTileRows][kTileColumns], before[kTileRows][kTileColumns];
          for (auto& row : sums)
            for (int32_t& c : row)
              c = random() % 3 == 0   ? std::numeric_limits<int32_t>::max() - int32_t(random() % 1000)
                  : random() % 2 == 0 ? std::numeric_limits<int32_t>::min() + int32_t(random() % 1000)
                                      : int32_t(random());
          std::memcpy(before, sums, sizeof sums);
          addIntegerProducts(fa, fb, saturate != 0, tile.rows, kTileRows, tile.columns, words, sums);
          for (int i = 0; i < kTileRows; ++i)
            for (int j = 0; j < kTileColumns; ++j) {
              int64_t exact = before[i][j];
              for (int k = 0; k < words * 32 / bits; ++k)
                exact += element(tile.rows[i], fa, k) * element(tile.columns[j], fb, k);
              const int64_t limited = std::clamp<int64_t>(exact, INT32_MIN, INT32_MAX);
              (saturate ? clamped : wrapped) += limited != exact;
              BOOST_REQUIRE_EQUAL(sums[i][j], saturate ? int32_t(limited) : int32_t(uint64_t(exact)));
            }
        }
  BOOST_TEST(clamped > 100);
  BOOST_TEST(wrapped > 100);
}

BOOST_AUTO_TEST_CASE(bits) {
  std::mt19937 random(5);
  for (BitOperation operation : {BitOperation::Xor, BitOperation::And}) {
    Tile tile;
    for (auto& line : tile.rows)
      for (auto& byte : line) byte = std::byte(random());
    for (auto& line : tile.columns)
      for (auto& byte : line) byte = std::byte(random());
    int32_t sums[kTileRows][kTileColumns];
    std::fill_n(sums[0], kTileRows * kTileColumns, std::numeric_limits<int32_t>::max() - 30);
    addBitProducts(operation, tile.rows, kTileRows, tile.columns, 4, sums);
    for (int i = 0; i < kTileRows; ++i)
      for (int j = 0; j < kTileColumns; ++j) {
        uint32_t ones = 0;
        for (int bit = 0; bit < 128; ++bit) {
          const bool x = int(tile.rows[i][bit / 8]) >> bit % 8 & 1, y = int(tile.columns[j][bit / 8]) >> bit % 8 & 1;
          ones += operation == BitOperation::Xor ? x != y : x && y;
        }
        BOOST_REQUIRE_EQUAL(uint32_t(sums[i][j]), uint32_t(std::numeric_limits<int32_t>::max()) - 30 + ones);
      }
  }
}

BOOST_AUTO_TEST_CASE(doubles) {
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int terms : {4, 8, 16}) {
    double a[8][16], b[8][16], sums[8][kTileColumns], before[8][kTileColumns];
    for (auto& row : a)
      for (double& x : row) x = uniform(random);
    for (auto& row : b)
      for (double& x : row) x = uniform(random);
    for (auto& row : before)
      for (double& x : row) x = uniform(random);
    std::memcpy(sums, before, sizeof sums);
    addDoubleProducts(DoubleRounding::Nearest, a, 8, b, terms, sums);
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) {
        double expected = before[i][j];
        for (int k = 0; k < terms; ++k) expected = std::fma(a[i][k], b[j][k], expected);
        BOOST_REQUIRE_EQUAL(std::bit_cast<uint64_t>(sums[i][j]), std::bit_cast<uint64_t>(expected));
      }
  }
  // Of several NaNs b's wins, then that of the sum, then a's; a new one is negative.
  const auto nanOf = [](uint64_t x, uint64_t y, uint64_t c) {
    const double one[1][16] = {{std::bit_cast<double>(x)}}, columns[8][16] = {{std::bit_cast<double>(y)}};
    double sums[1][kTileColumns] = {{std::bit_cast<double>(c)}};
    addDoubleProducts(DoubleRounding::Nearest, one, 1, columns, 4, sums);
    return std::bit_cast<uint64_t>(sums[0][0]);
  };
  constexpr uint64_t na = 0x7FF0000000000001, nb = 0xFFF0000000000002, nc = 0x7FF8000000000003,
                     inf = 0x7FF0000000000000;
  BOOST_TEST(nanOf(na, nb, nc) == 0xFFF8000000000002u);
  BOOST_TEST(nanOf(na, 0, nc) == nc);
  BOOST_TEST(nanOf(na, 0, 0) == 0x7FF8000000000001u);
  BOOST_TEST(nanOf(inf, 0, 0) == 0xFFF8000000000000u);
  // 1 + 2^-60 in each direction, and -1 - 2^-60.
  const double tiny[1][16] = {{0x1p-30}}, one[8][16] = {{0x1p-30}, {-0x1p-30}};
  const auto rounded = [&](DoubleRounding rounding, int column, double c) {
    double sums[1][kTileColumns] = {};
    sums[0][column] = c;
    addDoubleProducts(rounding, tiny, 1, one, 4, sums);
    return sums[0][column];
  };
  BOOST_TEST(rounded(DoubleRounding::Nearest, 0, 1.0) == 1.0);
  BOOST_TEST(rounded(DoubleRounding::Zero, 0, 1.0) == 1.0);
  BOOST_TEST(rounded(DoubleRounding::Up, 0, 1.0) == 1.0 + 0x1p-52);
  BOOST_TEST(rounded(DoubleRounding::Down, 1, 1.0) == 1.0 - 0x1p-53);
  BOOST_TEST(rounded(DoubleRounding::Down, 1, -1.0) == -1.0 - 0x1p-52);
  BOOST_TEST(rounded(DoubleRounding::Up, 1, -1.0) == -1.0);
}
