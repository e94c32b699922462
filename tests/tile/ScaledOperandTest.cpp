// tests/tile/ScaledOperandTest.cpp -- operands of scaled dots against one number at a time: every format, result type,
// packing, orientation and kind of scale; odd extents, strided sources; nothing is written outside.
#include "tests/tile/TileTest.h"

using namespace tiletwin;
using namespace tiletwin::test;
using F = TwScaledFormat;
using S = TwScaleKind;

namespace {

DType storedType(F format) {
  switch (format) {
  case F::E4M3: return DType::F8E4M3FN;
  case F::E5M2: return DType::F8E5M2;
  case F::BF16: return DType::BF16;
  case F::F16: return DType::F16;
  default: return DType::I8;
  }
}
double valueE2M1(unsigned code) {
  const double sizes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return (code & 8 ? -1 : 1) * sizes[code & 7];
}
double valueOfScale(S kind, DType result, uint8_t code) {
  if (kind == S::None) return 1;
  if (kind == S::E4M3) return double(f8ToF32(DType::F8E4M3FN, code));
  if (code == 255) return kind == S::E8M0 || result == DType::F64 ? NAN : INFINITY;
  if (result == DType::F16 && code < 103) return 0; // 2^-24 is the smallest
  if (result == DType::F16 && code > 142) return INFINITY;
  return std::ldexp(1.0, code - 127);
}

struct Case {
  int64_t outer, k;
  bool kInner, outerPacked;
  int64_t inner; // stride of the inner dimension, in elements
};

void check(F format, DType result, S kind, const Case& c) {
  const TwScaledOperandFn fn = ops().scaledOperand(format, result);
  BOOST_REQUIRE(fn);
  const bool packed = format == F::E2M1;
  const DType stored = storedType(format);
  const int64_t bytes = int64_t(sizeOf(stored)), group = 16;
  const int64_t rowsOuter = packed && c.outerPacked ? (c.outer + 1) / 2 : c.outer;
  const int64_t rowsK = packed && !c.outerPacked ? (c.k + 1) / 2 : c.k;
  const int64_t inner = c.inner * bytes, row = ((c.kInner ? rowsK : rowsOuter) * c.inner + 3) * bytes;
  TwScaledOperand o{};
  o.outer = c.outer, o.k = c.k, o.group = group, o.kind = kind, o.outerPacked = c.outerPacked, o.kInner = c.kInner;
  o.xOuter = c.kInner ? row : inner;
  o.xK = c.kInner ? inner : row;
  std::vector<uint8_t> x(size_t((c.kInner ? rowsOuter : rowsK) * row));
  std::mt19937 random(unsigned(c.outer * 31 + c.k));
  for (uint8_t& b : x) b = uint8_t(random());
  std::vector<uint8_t> scales(size_t(c.outer * (c.k / group + 2)));
  for (size_t i = 0; i < scales.size(); ++i) scales[i] = uint8_t(i < 256 ? i * 37 : random());
  o.x = x.data(), o.scale = scales.data(), o.scaleOuter = c.k / group + 2, o.scaleGroup = 1;
  Guarded out(size_t(c.outer * c.k) * sizeOf(result));
  o.dst = out.data();
  fn(&o);
  BOOST_REQUIRE(out.whole());
  int errors = 0;
  for (int64_t i = 0; i < c.outer; ++i)
    for (int64_t k = 0; k < c.k; ++k) {
      double v;
      if (packed) {
        const int64_t a = c.outerPacked ? i / 2 : i, b = c.outerPacked ? k : k / 2;
        const unsigned byte = x[size_t(a * o.xOuter + b * o.xK)];
        v = valueE2M1(((c.outerPacked ? i : k) % 2 ? byte >> 4 : byte) & 15);
      } else {
        v = decode(stored, readBits(x.data() + i * o.xOuter + k * o.xK, 0, size_t(bytes)));
      }
      if (format == F::BF16 && result == DType::F16) v = decode(result, encode(result, v));
      const uint64_t want =
          encode(result, v * valueOfScale(kind, result, scales[size_t(i * o.scaleOuter + k / group)]));
      const uint64_t got = readBits(out.data(), size_t(c.kInner ? i * c.k + k : k * c.outer + i), sizeOf(result));
      if (!sameFloat(result, got, want) && ++errors < 4)
        BOOST_ERROR("format " << int(format) << " to " << kindOf(result) << " scale " << int(kind) << " at " << i << ","
                              << k << " of " << c.outer << "x" << c.k << (c.kInner ? " k inner" : "") << ": "
                              << decode(result, got) << ", not " << decode(result, want));
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(every_format_layout_and_scale) {
  const Case cases[] = {{16, 32, true, false, 1},   {16, 32, false, false, 1}, {2, 16, true, false, 1},
                        {40, 64, true, true, 1},    {6, 320, true, false, 1},  {320, 48, false, true, 1},
                        {300, 16, false, false, 1}, {4, 288, true, true, 2},   {34, 32, false, true, 3},
                        {1, 16, true, false, 1},    {10, 16, false, false, 5}, {128, 128, false, true, 1}};
  for (F format : {F::E2M1, F::E4M3, F::E5M2, F::BF16, F::F16})
    for (DType result : {DType::BF16, DType::F16, DType::F64}) {
      if (format == F::F16 && result == DType::BF16) continue; // an f16 operand makes the product f16
      for (S kind : {S::None, S::E8M0, S::E8M0Fast, S::E4M3})
        for (const Case& c : cases)
          if (!c.outerPacked || format == F::E2M1) check(format, result, kind, c);
    }
  BOOST_TEST(!ops().scaledOperand(F::E4M3, DType::F32));
}
