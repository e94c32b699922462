// tests/tile/DotTest.cpp -- dots of every type combination against f64 loops: odd sizes, transposed and general
// strides, accumulators, blocks larger than one pass; the error bound is k * eps * sum of |terms|.
#include "tests/tile/TileTest.h"

using namespace tiletwin;
using namespace tiletwin::test;
using P = TwDotPrecision;

namespace {

struct Case {
  int64_t m, n, k;
};
const Case kCases[] = {{1, 1, 1},    {1, 16, 3},   {6, 16, 8},  {5, 7, 9},   {16, 16, 16},
                       {13, 33, 17}, {64, 64, 32}, {31, 8, 70}, {17, 40, 1}, {128, 24, 5}};
const Case kLarge[] = {{260, 300, 20}, {7, 9, 1100}, {70, 33, 517}, {300, 270, 270}};
enum class Layout { Rows, Columns, General };

struct Matrix {
  DType type;
  int64_t rowStride, colStride;
  std::vector<uint8_t> data;
  Matrix(DType t, int64_t rows, int64_t cols, Layout layout, uint64_t seed, auto element) : type(t) {
    rowStride = layout == Layout::Rows ? cols + 3 : layout == Layout::Columns ? 1 : 2 * cols + 1;
    colStride = layout == Layout::Rows ? 1 : layout == Layout::Columns ? rows + 5 : 2;
    data.assign(size_t((rows + 6) * (cols + 6) * 3) * sizeOf(t), 0xFF);
    std::mt19937_64 random(seed);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < cols; ++c)
        writeBits(data.data(), size_t(r * rowStride + c * colStride), sizeOf(t), element(random()));
  }
  uint64_t bits(int64_t r, int64_t c) const {
    return readBits(data.data(), size_t(r * rowStride + c * colStride), sizeOf(type));
  }
  double value(int64_t r, int64_t c) const { return decode(type, bits(r, c)); }
};

void runDot(TwDotFn fn, const Case& s, const Matrix& a, const Matrix& b, const void* c, int64_t cRow, void* d,
            int64_t dRow) {
  const size_t bytes = size_t(ops().dotScratchBytes(s.m, s.n, s.k));
  BOOST_REQUIRE(bytes <= 1 << 20);
  std::vector<uint8_t> memory(bytes + 128, 0xCD);
  uint8_t* scratch = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
  TwDot dot{s.m,         s.n,         s.k, a.data.data(), a.rowStride, a.colStride, b.data.data(),
            b.rowStride, b.colStride, c,   cRow,          d,           dRow,        scratch};
  dot.aNext = reinterpret_cast<const void*>(uintptr_t(0x11)); // no memory is there: hints are not read
  dot.bNext = reinterpret_cast<const void*>(~uintptr_t(0) - 100);
  fn(&dot);
  for (size_t i = 0; i < 64 - size_t(scratch - memory.data()); ++i) BOOST_REQUIRE(scratch[bytes + i] == 0xCD);
}

/// tf32: operands are truncated first. `exact`: the result must be the f64 sum rounded once (up to one step: f64 sums
/// differ in order).
void checkFloat(DType ta, DType tb, DType acc, P precision, const Case& s, Layout la, Layout lb, bool withC,
                bool inPlace) {
  const TwDotFn fn = ops().dot(ta, tb, acc, precision);
  BOOST_REQUIRE_MESSAGE(fn, "no dot of " << kindOf(ta) << ", " << kindOf(tb) << " in " << kindOf(acc));
  const auto element = [](DType t) { return [t](uint64_t r) { return encode(t, (double(r % 2047) - 1023) / 512); }; };
  const Matrix a(ta, s.m, s.k, la, 1, element(ta)), b(tb, s.k, s.n, lb, 2, element(tb));
  const size_t bytes = sizeOf(acc);
  const int64_t dRow = s.n + 2, cRow = inPlace ? dRow : s.n + 1;
  std::vector<uint8_t> c(size_t(s.m * cRow) * bytes);
  std::mt19937_64 random(3);
  for (int64_t i = 0; i < s.m * cRow; ++i)
    writeBits(c.data(), size_t(i), bytes, encode(acc, (double(random() % 1001) - 500) / 64));
  Guarded out(size_t((s.m - 1) * dRow + s.n) * bytes);
  for (int64_t i = 0; i < (s.m - 1) * dRow + s.n; ++i)
    writeBits(out.data(), size_t(i), bytes, inPlace ? readBits(c.data(), size_t(i), bytes) : 0x77);
  runDot(fn, s, a, b, withC ? (inPlace ? out.data() : c.data()) : nullptr, cRow, out.data(), dRow);
  BOOST_REQUIRE(out.whole());
  int errors = 0;
  const auto operand = [&](double v) {
    return precision == P::Tf32 && ta == DType::F32 ? double(f32ToTf32(float(v))) : v;
  };
  for (int64_t i = 0; i < s.m; ++i)
    for (int64_t j = 0; j < s.n; ++j) {
      double sum = withC ? decode(acc, readBits(c.data(), size_t(i * cRow + j), bytes)) : 0, size = std::fabs(sum);
      for (int64_t k = 0; k < s.k; ++k) {
        const double term = operand(a.value(i, k)) * operand(b.value(k, j));
        sum += term, size += std::fabs(term);
      }
      const double got = decode(acc, readBits(out.data(), size_t(i * dRow + j), bytes));
      const double ulp = std::ldexp(1.0, std::max(std::ilogb(sum == 0 ? 1e-300 : sum), acc == DType::F16 ? -14 : -126) -
                                             (acc == DType::F64   ? 52
                                              : acc == DType::F32 ? 23
                                                                  : 10));
      const double sumEps = precision == P::Ieee || ta == DType::F64 ? 0x1p-52 : 0x1p-24;
      if (std::fabs(got - sum) > double(s.k + 1) * sumEps * size + 0.5001 * ulp && ++errors < 4)
        BOOST_ERROR(kindOf(ta) << "." << kindOf(tb) << "->" << kindOf(acc) << " " << s.m << "x" << s.n << "x" << s.k
                               << " layouts " << int(la) << int(lb) << " at " << i << "," << j << ": " << got
                               << ", not " << sum);
    }
  for (int64_t i = 0; i + 1 < s.m; ++i) // between rows nothing is written
    for (int64_t j = s.n; j < dRow; ++j) {
      const uint64_t before = inPlace ? readBits(c.data(), size_t(i * dRow + j), bytes) : encode(DType::F64, 0) + 0x77;
      BOOST_REQUIRE(readBits(out.data(), size_t(i * dRow + j), bytes) ==
                    (before & (bytes == 8 ? ~0ull : (1ull << bytes * 8) - 1)));
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(every_float_combination) {
  struct Row {
    DType a, b, acc;
    P precision;
  };
  std::vector<Row> rows = {
      {DType::F32, DType::F32, DType::F32, P::F32},    {DType::F32, DType::F32, DType::F32, P::Tf32},
      {DType::F32, DType::F32, DType::F32, P::Bf16x3}, {DType::F32, DType::F32, DType::F32, P::Ieee},
      {DType::F64, DType::F64, DType::F64, P::F32},    {DType::F64, DType::F64, DType::F64, P::Ieee},
  };
  for (P p : {P::Tf32, P::Ieee})
    for (DType acc : {DType::F32, DType::F16}) rows.push_back({DType::F16, DType::F16, acc, p});
  for (P p : {P::F32, P::Ieee}) rows.push_back({DType::BF16, DType::BF16, DType::F32, p});
  for (const Row& row : rows)
    for (const Case& s : kCases)
      for (Layout la : {Layout::Rows, Layout::Columns, Layout::General})
        for (Layout lb : {Layout::Rows, Layout::Columns, Layout::General})
          checkFloat(row.a, row.b, row.acc, row.precision, s, la, lb, (s.m + int(la)) % 2, int(lb) == 1);
}
BOOST_AUTO_TEST_CASE(large_blocks) {
  for (const Case& s : kLarge)
    for (Layout l : {Layout::Rows, Layout::Columns}) {
      checkFloat(DType::F32, DType::F32, DType::F32, P::F32, s, l, l, true, true);
      checkFloat(DType::F32, DType::F32, DType::F32, P::Ieee, s, l, l, true, false);
      checkFloat(DType::F16, DType::F16, DType::F16, P::F32, s, l, l, true, false);
      checkFloat(DType::F64, DType::F64, DType::F64, P::F32, s, l, l, false, false);
    }
}
BOOST_AUTO_TEST_CASE(any_two_f8) {
  const DType types[] = {DType::F8E5M2, DType::F8E4M3FN, DType::F8E4M3B11FNUZ, DType::F8E5M2FNUZ, DType::F8E4M3FNUZ};
  for (DType a : types)
    for (DType b : types)
      for (DType acc : {DType::F32, DType::F16})
        for (P p : {P::F32, P::Ieee})
          for (Layout l : {Layout::Rows, Layout::Columns})
            checkFloat(a, b, acc, p, {19, 21, 37}, l, Layout::Rows, true, false);
  BOOST_TEST(!ops().dot(DType::F8E5M2, DType::F16, DType::F32, P::F32));
  BOOST_TEST(!ops().dot(DType::F16, DType::F32, DType::F32, P::F32));
}
BOOST_AUTO_TEST_CASE(bytes) {
  const TwDotFn fn = ops().dot(DType::I8, DType::I8, DType::I32, P::Tf32);
  BOOST_REQUIRE(fn);
  std::vector<Case> cases(std::begin(kCases), std::end(kCases));
  cases.insert(cases.end(), std::begin(kLarge), std::end(kLarge));
  for (const Case& s : cases)
    for (Layout la : {Layout::Rows, Layout::Columns, Layout::General})
      for (Layout lb : {Layout::Rows, Layout::Columns}) {
        const auto element = [](uint64_t r) { return r % 5 == 0 ? 0x80 : r & 0xFF; };
        const Matrix a(DType::I8, s.m, s.k, la, 4, element), b(DType::I8, s.k, s.n, lb, 5, element);
        std::vector<int32_t> c(size_t(s.m * s.n));
        for (size_t i = 0; i < c.size(); ++i) c[i] = int32_t(i * 2654435761u);
        Guarded out(c.size() * 4);
        runDot(fn, s, a, b, c.data(), s.n, out.data(), s.n);
        BOOST_REQUIRE(out.whole());
        for (int64_t i = 0; i < s.m; ++i)
          for (int64_t j = 0; j < s.n; ++j) {
            uint32_t sum = uint32_t(c[size_t(i * s.n + j)]);
            for (int64_t k = 0; k < s.k; ++k)
              sum += uint32_t(int32_t(int8_t(a.bits(i, k))) * int32_t(int8_t(b.bits(k, j))));
            BOOST_REQUIRE(readBits(out.data(), size_t(i * s.n + j), 4) == sum);
          }
      }
}
// Steps of a loop, against one dot after the other.
BOOST_AUTO_TEST_CASE(products_that_wait_for_more_have_the_same_bits) {
  struct Row {
    DType type, acc;
    P precision;
  };
  const Row rows[] = {{DType::F32, DType::F32, P::F32},    {DType::F32, DType::F32, P::Tf32},
                      {DType::F16, DType::F32, P::F32},    {DType::F16, DType::F16, P::F32},
                      {DType::F64, DType::F64, P::F32},    {DType::I8, DType::I32, P::F32},
                      {DType::F8E5M2, DType::F32, P::F32}, {DType::F32, DType::F32, P::Ieee}};
  for (const Row& row : rows)
    for (const Case& s :
         {Case{64, 64, 32}, {13, 33, 1}, {1, 16, 17}, {256, 40, 50}, {260, 8, 20}, {9, 300, 20}, {5, 5, 300}})
      for (int steps : {0, 1, 9}) {
        const TwDotFn fn = ops().dot(row.type, row.type, row.acc, row.precision);
        const auto element = [&](uint64_t r) {
          return isFloat(row.type) ? encode(row.type, (double(r % 2047) - 1023) / 512) : r & 0xFF;
        };
        const Matrix a(row.type, s.m, s.k * 9, Layout::Rows, 6, element),
            b(row.type, s.k * 9, s.n, Layout::Rows, 7, element);
        const size_t bytes = sizeOf(row.acc);
        std::vector<uint8_t> alone(size_t(s.m * s.n) * bytes), waiting(alone.size());
        std::vector<uint8_t> memory(size_t(ops().dotScratchBytes(s.m, s.n, s.k)) + 128);
        TwDotState state{};
        TwDot dot{};
        dot.m = s.m, dot.n = s.n, dot.k = s.k;
        dot.aRow = a.rowStride, dot.aCol = a.colStride, dot.bRow = b.rowStride, dot.bCol = b.colStride;
        dot.cRow = dot.dRow = s.n;
        dot.scratch = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
        for (bool holds : {false, true}) {
          dot.c = dot.d = (holds ? waiting : alone).data();
          dot.holds = holds;
          dot.state = holds ? &state : nullptr;
          for (int i = 0; i < steps; ++i) {
            dot.a = a.data.data() + size_t(i * s.k) * sizeOf(row.type);
            dot.b = b.data.data() + size_t(i * s.k * b.rowStride) * sizeOf(row.type);
            fn(&dot);
          }
        }
        dot.k = 0, dot.a = dot.b = nullptr;
        fn(&dot);
        BOOST_TEST((alone == waiting), kindOf(row.type)
                                           << " " << s.m << "x" << s.n << "x" << s.k << ", " << steps << " steps");
        BOOST_TEST(state.held == 0);
      }
}
BOOST_AUTO_TEST_CASE(operands_that_stay_are_packed_once) {
  for (P precision : {P::F32, P::Ieee})
    for (const Case& s : {Case{64, 64, 64}, {13, 33, 7}, {130, 20, 30}, {300, 20, 30}, {20, 300, 30}, {20, 20, 300}})
      for (bool keepsA : {false, true}) {
        const TwDotFn fn = ops().dot(DType::F16, DType::F16, DType::F32, precision);
        const auto element = [](uint64_t r) { return encode(DType::F16, (double(r % 2047) - 1023) / 512); };
        const Matrix a(DType::F16, s.m, s.k, Layout::Rows, 8, element),
            b(DType::F16, s.k, s.n, Layout::Columns, 9, element);
        std::vector<float> alone(size_t(s.m * s.n)), kept(alone.size());
        runDot(fn, s, a, b, nullptr, 0, alone.data(), s.n);
        std::vector<uint8_t> memory(size_t(ops().dotScratchBytes(s.m, s.n, s.k)) + 128);
        TwDotState state{};
        TwDot dot{};
        dot.m = s.m, dot.n = s.n, dot.k = s.k;
        dot.aRow = a.rowStride, dot.aCol = a.colStride, dot.bRow = b.rowStride, dot.bCol = b.colStride;
        dot.dRow = s.n;
        dot.scratch = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
        dot.state = &state;
        dot.keepsA = keepsA;
        dot.keepsB = !keepsA;
        Matrix spoiled = keepsA ? a : b;
        (keepsA ? dot.a : dot.b) = spoiled.data.data();
        (keepsA ? dot.b : dot.a) = (keepsA ? b : a).data.data();
        for (int round = 0; round < 3; ++round) {
          dot.d = kept.data();
          fn(&dot);
          BOOST_TEST((alone == kept), s.m << "x" << s.n << "x" << s.k << " round " << round);
          const bool one = keepsA ? state.hasA : state.hasB;
          if (one) std::fill(spoiled.data.begin(), spoiled.data.end(), uint8_t(0x7F)); // it is not read again
        }
        BOOST_TEST((keepsA ? state.hasA : state.hasB) == (s.m <= (precision == P::Ieee ? 128 : 256) && s.n <= 256 &&
                                                          s.k <= (precision == P::Ieee ? 128 : 256)));
      }
}
BOOST_AUTO_TEST_CASE(not_a_number_spreads_only_along_its_row_and_column) {
  const Case s{20, 20, 10};
  const auto one = [](uint64_t) { return encode(DType::F32, 1); };
  Matrix a(DType::F32, s.m, s.k, Layout::Rows, 1, one), b(DType::F32, s.k, s.n, Layout::Rows, 1, one);
  writeBits(a.data.data(), size_t(3 * a.rowStride + 4), 4, encode(DType::F32, NAN));
  std::vector<float> d(400);
  runDot(ops().dot(DType::F32, DType::F32, DType::F32, P::Tf32), s, a, b, nullptr, 0, d.data(), 20);
  for (int i = 0; i < 400; ++i) BOOST_REQUIRE(i / 20 == 3 ? std::isnan(d[size_t(i)]) : d[size_t(i)] == 10.f);
}
