// tests/tile/ElementwiseIntTest.cpp -- integer operations on every width, edge values against edge values (all pairs of
// 8-bit values).
#include "tests/tile/TileTest.h"

using namespace tiletwin;
using namespace tiletwin::test;
using E = TwElementwise;

namespace {

int widthOf(DType t) { return t == DType::I1 ? 1 : int(sizeOf(t)) * 8; }
uint64_t low(DType t, uint64_t v) { return widthOf(t) == 64 ? v : v & ((1ull << widthOf(t)) - 1); }
int64_t asSigned(DType t, uint64_t v) { return int64_t(v << (64 - widthOf(t))) >> (64 - widthOf(t)); }

struct Operands {
  uint64_t a, b;  ///< zero-extended
  int64_t sa, sb; ///< sign-extended
  int width;
};
struct Row {
  E op;
  uint64_t (*fn)(Operands);
};
constexpr Row kRows[] = {
    {E::AddI, [](Operands o) -> uint64_t { return o.a + o.b; }},
    {E::SubI, [](Operands o) -> uint64_t { return o.a - o.b; }},
    {E::MulI, [](Operands o) -> uint64_t { return o.a * o.b; }},
    {E::DivUI, [](Operands o) -> uint64_t { return o.b ? o.a / o.b : ~0ull; }},
    {E::RemUI, [](Operands o) -> uint64_t { return o.b ? o.a % o.b : o.a; }},
    {E::DivSI, [](Operands o) -> uint64_t { return o.sb == 0    ? ~0ull
                                                   : o.sb == -1 ? 0 - o.a
                                                                : uint64_t(o.sa / o.sb); }},
    {E::RemSI, [](Operands o) -> uint64_t { return o.sb == 0    ? o.a
                                                   : o.sb == -1 ? 0
                                                                : uint64_t(o.sa % o.sb); }},
    {E::MaxSI, [](Operands o) -> uint64_t { return o.sa > o.sb ? o.a : o.b; }},
    {E::MaxUI, [](Operands o) -> uint64_t { return o.a > o.b ? o.a : o.b; }},
    {E::MinSI, [](Operands o) -> uint64_t { return o.sa < o.sb ? o.a : o.b; }},
    {E::MinUI, [](Operands o) -> uint64_t { return o.a < o.b ? o.a : o.b; }},
    {E::AndI, [](Operands o) -> uint64_t { return o.a & o.b; }},
    {E::OrI, [](Operands o) -> uint64_t { return o.a | o.b; }},
    {E::XorI, [](Operands o) -> uint64_t { return o.a ^ o.b; }},
};
/// Shift amounts below the width only.
constexpr Row kShifts[] = {
    {E::ShlI, [](Operands o) -> uint64_t { return o.a << o.b; }},
    {E::ShrUI, [](Operands o) -> uint64_t { return o.a >> o.b; }},
    {E::ShrSI, [](Operands o) -> uint64_t { return uint64_t(o.sa >> o.b); }},
};
constexpr Row kComparisons[] = {
    {E::CmpEQ, [](Operands o) -> uint64_t { return uint64_t(o.a == o.b); }},
    {E::CmpNE, [](Operands o) -> uint64_t { return uint64_t(o.a != o.b); }},
    {E::CmpSLT, [](Operands o) -> uint64_t { return uint64_t(o.sa < o.sb); }},
    {E::CmpSLE, [](Operands o) -> uint64_t { return uint64_t(o.sa <= o.sb); }},
    {E::CmpSGT, [](Operands o) -> uint64_t { return uint64_t(o.sa > o.sb); }},
    {E::CmpSGE, [](Operands o) -> uint64_t { return uint64_t(o.sa >= o.sb); }},
    {E::CmpULT, [](Operands o) -> uint64_t { return uint64_t(o.a < o.b); }},
    {E::CmpULE, [](Operands o) -> uint64_t { return uint64_t(o.a <= o.b); }},
    {E::CmpUGT, [](Operands o) -> uint64_t { return uint64_t(o.a > o.b); }},
    {E::CmpUGE, [](Operands o) -> uint64_t { return uint64_t(o.a >= o.b); }},
};

void checkRow(const Row& row, DType t, DType result, const std::vector<std::vector<uint64_t>>& operands) {
  const TwStripFn fn = ops().elementwise(row.op, t);
  BOOST_REQUIRE_MESSAGE(fn, "no operation " << int(row.op) << " on " << kindOf(t));
  int errors = 0;
  runStrip(fn, result, {t, t}, operands, [&](const uint64_t* in, uint64_t got) {
    const uint64_t expected = low(result, row.fn({in[0], in[1], asSigned(t, in[0]), asSigned(t, in[1]), widthOf(t)}));
    if (got != expected && ++errors < 5)
      BOOST_ERROR("op " << int(row.op) << " on " << kindOf(t) << " (" << in[0] << ", " << in[1] << ") = " << got
                        << ", not " << expected);
  });
}

} // namespace

BOOST_AUTO_TEST_CASE(integer_binary) {
  for (DType t : kInts) {
    const auto operands = pairs(edges(t), edges(t));
    for (const Row& row : kRows) checkRow(row, t, t, operands);
    for (const Row& row : kComparisons) checkRow(row, t, DType::I1, operands);
    std::vector<uint64_t> amounts;
    for (int i = 0; i < widthOf(t); ++i) amounts.push_back(uint64_t(i));
    for (const Row& row : kShifts) checkRow(row, t, t, pairs(edges(t), amounts));
  }
}
BOOST_AUTO_TEST_CASE(division_of_random_integers) {
  std::mt19937_64 random(5);
  for (DType t : {DType::I16, DType::I32, DType::I64}) {
    std::vector<std::vector<uint64_t>> operands(2);
    for (int i = 0; i < 20000; ++i) {
      operands[0].push_back(low(t, random()));
      operands[1].push_back(low(t, random() >> random() % 64));
    }
    for (const Row& row : kRows)
      if (row.op >= E::DivSI && row.op <= E::RemUI) checkRow(row, t, t, operands);
  }
}
BOOST_AUTO_TEST_CASE(high_half_of_products) {
  checkRow({E::MulHiUI, [](Operands o) -> uint64_t { return o.a * o.b >> 32; }}, DType::I32, DType::I32,
           pairs(edges(DType::I32), edges(DType::I32)));
  checkRow({E::MulHiUI, [](Operands o) -> uint64_t { return uint64_t((unsigned __int128)o.a * o.b >> 64); }},
           DType::I64, DType::I64, pairs(edges(DType::I64), edges(DType::I64)));
}
BOOST_AUTO_TEST_CASE(ones_are_counted) {
  for (DType t : kInts) {
    const TwStripFn fn = ops().elementwise(E::Popcount, t);
    BOOST_REQUIRE((fn == nullptr) == (t == DType::I1));
    if (!fn) continue;
    runStrip(fn, t, {t}, {edges(t)}, [&](const uint64_t* in, uint64_t got) {
      uint64_t ones = 0;
      for (int bit = 0; bit < widthOf(t); ++bit) ones += in[0] >> bit & 1;
      BOOST_REQUIRE_EQUAL(got, ones);
    });
  }
}
BOOST_AUTO_TEST_CASE(absolute_value_and_wide_shifts) {
  for (DType t : kInts) {
    runStrip(ops().elementwise(E::AbsI, t), t, {t}, {edges(t)}, [&](const uint64_t* in, uint64_t got) {
      const int64_t s = asSigned(t, in[0]);
      BOOST_REQUIRE(got == low(t, uint64_t(s < 0 ? 0 - uint64_t(s) : uint64_t(s))));
    });
    const uint64_t width = t == DType::I1 ? 8 : sizeOf(t) * 8;
    for (E op : {E::ShlI, E::ShrSI, E::ShrUI})
      runStrip(ops().elementwise(op, t), t, {t, t}, pairs(edges(t), edges(t)), [&](const uint64_t* in, uint64_t got) {
        if (in[1] < width) return;
        BOOST_REQUIRE(got == (op == E::ShrSI && asSigned(t, in[0]) < 0 ? low(t, ~0ull) : 0));
      });
  }
}
BOOST_AUTO_TEST_CASE(select_and_copy) {
  for (int i = 0; i < kNumDTypes; ++i) {
    const DType t = DType(i);
    std::vector<uint64_t> conditions, a, b;
    std::mt19937_64 random(9);
    for (int k = 0; k < 300; ++k) {
      conditions.push_back(random() & 1);
      for (auto* v : {&a, &b}) v->push_back(t == DType::I1 ? random() & 1 : random() >> (64 - sizeOf(t) * 8));
    }
    runStrip(ops().elementwise(E::Select, t), t, {DType::I1, t, t}, {conditions, a, b},
             [](const uint64_t* in, uint64_t got) { BOOST_REQUIRE(got == (in[0] ? in[1] : in[2])); });
    runStrip(ops().elementwise(E::Copy, t), t, {t}, {a},
             [](const uint64_t* in, uint64_t got) { BOOST_REQUIRE(got == in[0]); });
  }
}
