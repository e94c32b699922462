// tests/tile/ElementwiseFloatTest.cpp -- float operations on every float type, edge values against edge values: the
// result must be the f32 (f64 for f64) operation rounded once.
#include "tests/tile/TileTest.h"
#include <algorithm>

using namespace tiletwin;
using namespace tiletwin::test;
using E = TwElementwise;

namespace {

double orderMax(double a, double b) { return a == b ? (std::signbit(a) ? b : a) : a > b ? a : b; }
double orderMin(double a, double b) { return a == b ? (std::signbit(a) ? a : b) : a < b ? a : b; }
double maxNum(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : orderMax(a, b); }
double minNum(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : orderMin(a, b); }
double maximum(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : orderMax(a, b); }
double minimum(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : orderMin(a, b); }

/// Results are an operand or its negative: exact, and an infinity does not saturate.
bool isChoice(E op) {
  return (op >= E::MaxNumF && op <= E::MinimumF) || op == E::NegF || op == E::AbsF || op == E::ClampF ||
         op == E::ClampFPropagateNan;
}
/// Single precision unless the type is f64.
template <class F> double inType(DType t, F f, double a, double b = 0, double c = 0) {
  if (t == DType::F64) return f(a, b, c);
  return double(f(float(a), float(b), float(c)));
}
void checkOp(E op, DType t, const std::vector<std::vector<uint64_t>>& operands, auto reference) {
  const TwStripFn fn = ops().elementwise(op, t);
  BOOST_REQUIRE_MESSAGE(fn, "no operation " << int(op) << " on " << kindOf(t));
  int errors = 0;
  runStrip(fn, t, std::vector<DType>(operands.size(), t), operands, [&](const uint64_t* in, uint64_t got) {
    const double a = decode(t, in[0]), b = decode(t, in[1]), c = decode(t, in[2]);
    const uint64_t expected =
        encode(t, inType(t, reference, a, b, c), isChoice(op) ? Rounding::TowardZero : Rounding::NearestEven);
    if (!sameFloat(t, got, expected) && ++errors < 5)
      BOOST_ERROR("op " << int(op) << " on " << kindOf(t) << " (" << a << ", " << b << ", " << c
                        << ") = " << decode(t, got) << ", not " << decode(t, expected));
  });
}
/// For f8 a square of all codes is enough; others use their edges.
std::vector<std::vector<uint64_t>> binaryOperands(DType t) { return pairs(edges(t), edges(t)); }
std::vector<std::vector<uint64_t>> unaryOperands(DType t) {
  std::vector<uint64_t> all = edges(t);
  if (sizeOf(t) == 2) {
    all.clear();
    for (uint64_t i = 0; i < 65536; ++i) all.push_back(i);
  }
  return {all};
}
std::vector<std::vector<uint64_t>> ternaryOperands(DType t) {
  const auto all = edges(t);
  std::vector<std::vector<uint64_t>> out(3);
  const size_t step = all.size() > 100 ? 11 : 3;
  for (size_t i = 0; i < all.size(); i += step)
    for (size_t j = 0; j < all.size(); j += step - 1)
      for (size_t k = 0; k < all.size(); k += step)
        out[0].push_back(all[i]), out[1].push_back(all[j]), out[2].push_back(all[k]);
  return out;
}

} // namespace

BOOST_AUTO_TEST_CASE(arithmetic_rounds_once) {
  for (DType t : kFloats) {
    const auto operands = binaryOperands(t);
    checkOp(E::AddF, t, operands, [](auto a, auto b, auto) { return a + b; });
    checkOp(E::SubF, t, operands, [](auto a, auto b, auto) { return a - b; });
    checkOp(E::MulF, t, operands, [](auto a, auto b, auto) { return a * b; });
    checkOp(E::DivF, t, operands, [](auto a, auto b, auto) { return a / b; });
    checkOp(E::RemF, t, operands, [](auto a, auto b, auto) { return std::fmod(a, b); });
  }
}
BOOST_AUTO_TEST_CASE(remainder_is_exact_for_random_floats) {
  std::mt19937_64 random(3);
  std::vector<std::vector<uint64_t>> operands(2);
  for (int i = 0; i < 20000; ++i) {
    const uint32_t a = uint32_t(random());
    operands[0].push_back(a);
    operands[1].push_back(i % 2
                              ? uint32_t(random())
                              : (a & 0x7F800000u) - (random() % 20 << 23) + (random() & 0x7FFFFF)); // near a's exponent
  }
  checkOp(E::RemF, DType::F32, operands, [](auto a, auto b, auto) { return std::fmod(a, b); });
}
BOOST_AUTO_TEST_CASE(extrema_order_zeros_and_nans) {
  for (DType t : kFloats) {
    const auto operands = binaryOperands(t);
    checkOp(E::MaxNumF, t, operands, [](auto a, auto b, auto) { return decltype(a)(maxNum(a, b)); });
    checkOp(E::MinNumF, t, operands, [](auto a, auto b, auto) { return decltype(a)(minNum(a, b)); });
    checkOp(E::MaximumF, t, operands, [](auto a, auto b, auto) { return decltype(a)(maximum(a, b)); });
    checkOp(E::MinimumF, t, operands, [](auto a, auto b, auto) { return decltype(a)(minimum(a, b)); });
  }
}
BOOST_AUTO_TEST_CASE(ternary) {
  for (DType t : kFloats) {
    const auto operands = ternaryOperands(t);
    checkOp(E::Fma, t, operands, [](auto a, auto b, auto c) { return std::fma(a, b, c); });
    checkOp(E::ClampF, t, operands, [](auto x, auto lo, auto hi) { return decltype(x)(minNum(maxNum(x, lo), hi)); });
    checkOp(E::ClampFPropagateNan, t, operands,
            [](auto x, auto lo, auto hi) { return decltype(x)(minimum(maximum(x, lo), hi)); });
  }
}
BOOST_AUTO_TEST_CASE(exact_unary) {
  for (DType t : kFloats) {
    const auto operands = unaryOperands(t);
    checkOp(E::NegF, t, operands, [](auto a, auto, auto) { return -a; });
    checkOp(E::AbsF, t, operands, [](auto a, auto, auto) { return std::fabs(a); });
    checkOp(E::Floor, t, operands, [](auto a, auto, auto) { return std::floor(a); });
    checkOp(E::Ceil, t, operands, [](auto a, auto, auto) { return std::ceil(a); });
    checkOp(E::Sqrt, t, operands, [](auto a, auto, auto) { return std::sqrt(a); });
  }
}

BOOST_AUTO_TEST_CASE(comparisons) {
  struct Row {
    E op;
    bool (*fn)(double, double);
  };
  const Row rows[] = {
      {E::CmpFOEQ, [](double a, double b) { return a == b; }},
      {E::CmpFOGT, [](double a, double b) { return a > b; }},
      {E::CmpFOGE, [](double a, double b) { return a >= b; }},
      {E::CmpFOLT, [](double a, double b) { return a < b; }},
      {E::CmpFOLE, [](double a, double b) { return a <= b; }},
      {E::CmpFONE, [](double a, double b) { return a < b || a > b; }},
      {E::CmpFORD, [](double a, double b) { return !std::isnan(a) && !std::isnan(b); }},
      {E::CmpFUEQ, [](double a, double b) { return !(a < b || a > b); }},
      {E::CmpFUGT, [](double a, double b) { return !(a <= b); }},
      {E::CmpFUGE, [](double a, double b) { return !(a < b); }},
      {E::CmpFULT, [](double a, double b) { return !(a >= b); }},
      {E::CmpFULE, [](double a, double b) { return !(a > b); }},
      {E::CmpFUNE, [](double a, double b) { return a != b; }},
      {E::CmpFUNO, [](double a, double b) { return std::isnan(a) || std::isnan(b); }},
  };
  for (DType t : kFloats) {
    const auto operands = binaryOperands(t);
    for (const Row& row : rows) {
      const TwStripFn fn = ops().elementwise(row.op, t);
      BOOST_REQUIRE(fn);
      int errors = 0;
      runStrip(fn, DType::I1, {t, t}, operands, [&](const uint64_t* in, uint64_t got) {
        const double a = decode(t, in[0]), b = decode(t, in[1]);
        if (got != uint64_t(row.fn(a, b)) && ++errors < 5)
          BOOST_ERROR("comparison " << int(row.op) << " on " << kindOf(t) << " of " << a << ", " << b << " gives "
                                    << got);
      });
    }
  }
}

BOOST_AUTO_TEST_CASE(probes_of_floats) {
  for (DType t : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    int errors = 0;
    auto expect = [&](uint64_t got, bool expected, const char* what, const uint64_t* in) {
      if (got != uint64_t(expected) && ++errors < 5)
        BOOST_ERROR(what << " on " << kindOf(t) << " of " << decode(t, in[0]) << " gives " << got);
    };
    const TwStripFn nonFinite = ops().elementwise(E::NonFinite, t), born = ops().elementwise(E::Born, t);
    BOOST_REQUIRE(nonFinite);
    BOOST_REQUIRE(born);
    runStrip(nonFinite, DType::I1, {t}, unaryOperands(t),
             [&](const uint64_t* in, uint64_t got) { expect(got, !std::isfinite(decode(t, in[0])), "nonfinite", in); });
    runStrip(born, DType::I1, {t, t, t}, ternaryOperands(t), [&](const uint64_t* in, uint64_t got) {
      const double r = decode(t, in[0]), x = decode(t, in[1]), y = decode(t, in[2]);
      const bool isNew = std::isnan(r)   ? !std::isnan(x) && !std::isnan(y)
                         : std::isinf(r) ? std::isfinite(x) && std::isfinite(y)
                                         : false;
      expect(got, isNew, "born", in);
    });
  }
}

BOOST_AUTO_TEST_CASE(in_place) {
  std::vector<float> x(1000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = float(i);
  const float two = 2;
  const void* src[] = {x.data(), &two};
  ops().elementwise(E::MulF, DType::F32)(1000, x.data(), src, 2);
  for (size_t i = 0; i < x.size(); ++i) BOOST_REQUIRE(x[i] == 2.f * float(i));
}
BOOST_AUTO_TEST_CASE(splat_keeps_negative_zero) {
  const float zero = -0.0f;
  float out[40];
  const void* src[] = {&zero};
  ops().elementwise(E::Copy, DType::F32)(40, out, src, 1);
  for (float v : out) BOOST_REQUIRE(v == 0 && std::signbit(v));
}
BOOST_AUTO_TEST_CASE(float_operations_have_no_integer_form) {
  BOOST_TEST(!ops().elementwise(E::AddF, DType::I32));
  BOOST_TEST(!ops().elementwise(E::Exp, DType::I64));
  BOOST_TEST(!ops().elementwise(E::AddI, DType::F32));
  BOOST_TEST(!ops().elementwise(E::CmpULT, DType::F16));
}

namespace {
float randomFloat(std::mt19937_64& random, int smallestExponent, int largestExponent) {
  const int exponent = smallestExponent + int(random() % uint64_t(largestExponent - smallestExponent + 1));
  return std::bit_cast<float>(uint32_t(random() & 0x807FFFFFu) | uint32_t(exponent + 127) << 23);
}
/// fn of one run, by a splat where `splat` says so.
std::vector<float> runF32(TwStripFn fn, std::vector<const void*> src, size_t n, uint32_t splat) {
  std::vector<float> out(n);
  src.resize(3, nullptr);
  fn(int64_t(n), out.data(), src.data(), splat);
  return out;
}
bool sameBits(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}
} // namespace

BOOST_AUTO_TEST_CASE(quotients_by_one_divisor_are_correctly_rounded) {
  std::mt19937_64 random(11);
  const TwStripFn divide = ops().elementwise(E::DivF, DType::F32);
  for (int round = 0; round < 2000; ++round) {
    std::vector<float> a(256);
    for (float& x : a) x = randomFloat(random, -60, 59);
    float b = randomFloat(random, -60, 59);
    if (round % 8 == 0)
      b = std::bit_cast<float>(0x3F800000u |
                               (uint32_t(round / 16) ^ (round % 16 ? 0x7FFFFFu : 0))); // extreme mantissas
    if (round % 8 == 1) b = randomFloat(random, -126, 127);
    if (round % 8 == 2) a[random() % a.size()] = randomFloat(random, -126, 127);
    if (round % 8 == 3) a[random() % a.size()] = round % 16 == 3 ? -0.f : 0x1p-149f;
    if (round % 8 == 4) a[random() % a.size()] = round % 16 == 4 ? INFINITY : NAN;
    const std::vector<float> got = runF32(divide, {a.data(), &b}, a.size(), 2);
    for (size_t i = 0; i < a.size(); ++i)
      BOOST_REQUIRE_MESSAGE(sameBits(got[i], a[i] / b), a[i] << " / " << b << " = " << got[i] << ", not " << a[i] / b);
  }
}

BOOST_AUTO_TEST_CASE(quotients_of_narrow_floats_by_one_divisor) {
  for (DType t : {DType::F16, DType::BF16, DType::F8E5M2, DType::F8E4M3FN}) {
    const auto values = unaryOperands(t)[0];
    std::mt19937_64 random(5);
    for (int round = 0; round < 20; ++round) {
      const std::vector<uint64_t> divisor(values.size(), values[random() % values.size()]);
      checkOp(E::DivF, t, {values, divisor}, [](auto a, auto b, auto) { return a / b; });
    }
  }
}

BOOST_AUTO_TEST_CASE(joined_functions_give_the_bits_of_their_parts) {
  const TwStripFn difference = ops().elementwise(E::SubF, DType::F32);
  std::mt19937_64 random(3);
  std::vector<float> a;
  for (uint64_t bits : edges(DType::F32)) a.push_back(std::bit_cast<float>(uint32_t(bits)));
  while (a.size() < 1000) a.push_back(randomFloat(random, -20, 8));
  std::vector<float> b(a.rbegin(), a.rend());
  for (E op : {E::Exp, E::Exp2}) {
    const TwStripFn outer = ops().elementwise(op, DType::F32), joined = ops().joined(difference, outer, 0);
    BOOST_REQUIRE(joined);
    for (uint32_t splat : {0u, 2u})
      for (size_t n : {a.size(), size_t(63), size_t(1)}) {
        const std::vector<float> between = runF32(difference, {a.data(), b.data()}, n, splat);
        const std::vector<float> parts = runF32(outer, {between.data()}, n, 0);
        const std::vector<float> got = runF32(joined, {a.data(), b.data()}, n, splat);
        for (size_t i = 0; i < n; ++i)
          BOOST_REQUIRE_MESSAGE(sameBits(got[i], parts[i]), a[i] << " gives " << got[i] << ", not " << parts[i]);
      }
  }
  BOOST_TEST(!ops().joined(ops().elementwise(E::AddF, DType::F32), ops().elementwise(E::Exp, DType::F32), 0));
  BOOST_TEST(!ops().joined(difference, ops().elementwise(E::Log, DType::F32), 0));
  BOOST_TEST(!ops().joined(ops().elementwise(E::SubF, DType::F16), ops().elementwise(E::Exp, DType::F16), 0));
}

BOOST_AUTO_TEST_CASE(two_operations_of_three_operands_round_twice) {
  std::mt19937_64 random(4);
  std::vector<float> a;
  for (uint64_t bits : edges(DType::F32)) a.push_back(std::bit_cast<float>(uint32_t(bits)));
  while (a.size() < 500) a.push_back(randomFloat(random, -20, 20));
  std::vector<float> b(a.rbegin(), a.rend()), c(a);
  std::shuffle(c.begin(), c.end(), random);
  const auto compute = [](E op, float x, float y) { return op == E::AddF ? x + y : op == E::SubF ? x - y : x * y; };
  for (E inner : {E::AddF, E::SubF, E::MulF})
    for (E outer : {E::AddF, E::SubF, E::MulF})
      for (int operand : {0, 1}) {
        const TwStripFn joined =
            ops().joined(ops().elementwise(inner, DType::F32), ops().elementwise(outer, DType::F32), operand);
        BOOST_REQUIRE(joined);
        for (uint32_t splat = 0; splat < 8; ++splat)
          for (size_t n : {a.size(), size_t(63), size_t(1)}) {
            const std::vector<float> got = runF32(joined, {a.data(), b.data(), c.data()}, n, splat);
            for (size_t i = 0; i < n; ++i) {
              const float x = a[splat & 1 ? 0 : i], y = b[splat & 2 ? 0 : i], z = c[splat & 4 ? 0 : i];
              volatile float between = operand == 0 ? compute(inner, x, y) : compute(inner, y, z); // rounded, not fused
              const float expected = operand == 0 ? compute(outer, between, z) : compute(outer, x, between);
              BOOST_REQUIRE_MESSAGE(sameBits(got[i], expected), x << ", " << y << ", " << z << " give " << got[i]);
            }
          }
      }
}

// Operand 0 of a sum or a product with a narrow number is a product in f32; the result may become narrow, too.
BOOST_AUTO_TEST_CASE(products_join_narrow_numbers_and_keep_the_bits) {
  std::mt19937_64 random(6);
  for (DType narrow : {DType::F16, DType::BF16}) {
    const TwStripFn widen = ops().cast(narrow, DType::F32, TwCastKind::SignedInt),
                    shorten = ops().cast(DType::F32, narrow, TwCastKind::SignedInt);
    std::vector<uint16_t> codes(500), otherCodes(codes.size());
    for (auto* some : {&codes, &otherCodes})
      for (uint16_t& code : *some) code = uint16_t(random());
    std::vector<float> wide(codes.size()), otherWide(codes.size()), a(codes.size()), b(codes.size());
    const void *from[3] = {codes.data()}, *otherFrom[3] = {otherCodes.data()};
    widen(int64_t(codes.size()), wide.data(), from, 0);
    widen(int64_t(codes.size()), otherWide.data(), otherFrom, 0);
    for (float& x : a) x = randomFloat(random, -20, 20);
    for (float& x : b) x = randomFloat(random, -20, 20);
    for (E outer : {E::AddF, E::MulF})
      for (int narrowFactor : {-1, 0, 1}) {
        const TwStripFn product = ops().elementwise(E::MulF, DType::F32), second = ops().elementwise(outer, DType::F32);
        const TwStripFn inner = narrowFactor < 0 ? product : ops().joined(widen, product, narrowFactor);
        const TwStripFn joined = ops().joined(inner, ops().joined(widen, second, 1), 0);
        BOOST_REQUIRE(joined);
        const TwStripFn shortened = ops().joined(joined, shorten, 0);
        BOOST_REQUIRE(shortened);
        const float* factors[2] = {narrowFactor == 0 ? wide.data() : a.data(),
                                   narrowFactor == 1 ? otherWide.data() : b.data()};
        const void* src[3] = {narrowFactor == 0 ? static_cast<const void*>(codes.data()) : a.data(),
                              narrowFactor == 1 ? static_cast<const void*>(otherCodes.data()) : b.data(), codes.data()};
        for (uint32_t splat = 0; splat < 8; ++splat)
          for (size_t n : {codes.size(), size_t(63), size_t(1)}) {
            const std::vector<float> between = runF32(product, {factors[0], factors[1]}, n, splat & 3);
            const std::vector<float> expected = runF32(second, {between.data(), wide.data()}, n, splat >> 2 << 1);
            std::vector<float> got(n);
            joined(int64_t(n), got.data(), src, splat);
            for (size_t i = 0; i < n; ++i) BOOST_REQUIRE(sameBits(got[i], expected[i]));
            std::vector<uint16_t> rounded(n), direct(n);
            const void* parts[3] = {expected.data()};
            shorten(int64_t(n), rounded.data(), parts, 0);
            shortened(int64_t(n), direct.data(), src, splat);
            for (size_t i = 0; i < n; ++i)
              BOOST_REQUIRE((direct[i] == rounded[i] ||
                             (std::isnan(decode(narrow, direct[i])) && std::isnan(decode(narrow, rounded[i])))));
          }
      }
  }
}

BOOST_AUTO_TEST_CASE(casts_join_operations_and_keep_the_bits) {
  std::mt19937_64 random(5);
  for (DType narrow : {DType::F16, DType::BF16}) {
    const TwStripFn widen = ops().cast(narrow, DType::F32, TwCastKind::SignedInt),
                    shorten = ops().cast(DType::F32, narrow, TwCastKind::SignedInt);
    std::vector<uint16_t> bits[2];
    for (uint64_t edge : edges(narrow)) bits[0].push_back(uint16_t(edge));
    while (bits[0].size() < 500) bits[0].push_back(uint16_t(random()));
    bits[1].assign(bits[0].rbegin(), bits[0].rend());
    const size_t n = bits[0].size();
    const std::vector<float> wide[2] = {runF32(widen, {bits[0].data()}, n, 0), runF32(widen, {bits[1].data()}, n, 0)};
    for (E op : {E::AddF, E::SubF, E::MulF})
      for (int narrowed = 1; narrowed < 4; ++narrowed) // bit i: operand i is narrow
        for (uint32_t splat = 0; splat < 4; ++splat) {
          const TwStripFn plain = ops().elementwise(op, DType::F32);
          TwStripFn fn = plain;
          const void *from[2], *wideFrom[2];
          for (int i = 0; i < 2; ++i) {
            if (narrowed >> i & 1) fn = ops().joined(widen, fn, i);
            BOOST_REQUIRE(fn);
            from[i] = narrowed >> i & 1 ? static_cast<const void*>(bits[i].data()) : wide[i].data();
            wideFrom[i] = wide[i].data();
          }
          for (size_t count : {n, size_t(63), size_t(1)}) {
            const std::vector<float> expected = runF32(plain, {wideFrom[0], wideFrom[1]}, count, splat);
            const std::vector<float> got = runF32(fn, {from[0], from[1]}, count, splat);
            for (size_t i = 0; i < count; ++i) BOOST_REQUIRE(sameBits(got[i], expected[i]));
            const TwStripFn toNarrow = ops().joined(fn, shorten, 0);
            BOOST_REQUIRE(bool(toNarrow) ==
                          (narrowed != 3)); // two narrow operands and a narrow result: the operation on that type
            if (!toNarrow) continue;
            std::vector<uint16_t> rounded(count), direct(count);
            const void *parts[3] = {expected.data()}, *sources[3] = {from[0], from[1]};
            shorten(int64_t(count), rounded.data(), parts, 0);
            toNarrow(int64_t(count), direct.data(), sources, splat);
            for (size_t i = 0; i < count; ++i)
              BOOST_REQUIRE((direct[i] == rounded[i] ||
                             (std::isnan(decode(narrow, direct[i])) && std::isnan(decode(narrow, rounded[i])))));
          }
        }
    BOOST_TEST(!ops().joined(widen, ops().elementwise(E::DivF, DType::F32), 0));
    BOOST_TEST(!ops().joined(ops().cast(narrow, DType::F32, TwCastKind::SignedInt),
                             ops().elementwise(E::AddF, DType::F64), 0));
    BOOST_TEST(!ops().joined(ops().elementwise(E::AddF, DType::F32),
                             ops().cast(DType::F32, narrow, TwCastKind::TruncateToward0), 0));
  }
}

BOOST_AUTO_TEST_CASE(stores_past_the_cache_write_the_same) {
  std::vector<float> a(300);
  std::mt19937_64 random(9);
  for (float& x : a) x = randomFloat(random, -10, 10);
  const float b = 3;
  alignas(64) static uint8_t room[2048];
  for (E op : {E::AddF, E::DivF})
    for (size_t offset : {0u, 4u, 16u, 32u})
      for (size_t n : {size_t(300), size_t(64), size_t(63), size_t(1)}) {
        const TwStripFn fn = ops().elementwise(op, DType::F32);
        const void* src[3] = {a.data(), &b};
        const std::vector<float> expected = runF32(fn, {a.data(), &b}, n, 2);
        std::memset(room, 0xA5, sizeof room);
        fn(int64_t(n), room + 64 + offset, src, 2 | kTwStream);
        BOOST_TEST(std::memcmp(room + 64 + offset, expected.data(), n * 4) == 0);
        BOOST_TEST((room[63 + offset] == 0xA5 && room[64 + offset + n * 4] == 0xA5));
      }
  const TwStripFn narrow = ops().cast(DType::F32, DType::F16, TwCastKind::SignedInt);
  for (size_t offset = 0; offset < 64; ++offset) // odd ones, too
    for (size_t n : {size_t(300), size_t(64), size_t(31), size_t(1)}) {
      const void* src[3] = {a.data()};
      std::vector<uint16_t> expected(n);
      narrow(int64_t(n), expected.data(), src, 0);
      std::memset(room, 0xA5, sizeof room);
      narrow(int64_t(n), room + 64 + offset, src, kTwStream);
      BOOST_TEST(std::memcmp(room + 64 + offset, expected.data(), n * 2) == 0);
      BOOST_TEST((room[63 + offset] == 0xA5 && room[64 + offset + n * 2] == 0xA5));
    }
}
