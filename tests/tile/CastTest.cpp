// tests/tile/CastTest.cpp -- every pair of types: all values of narrow types, edges and random values of wide ones.
#include "tests/tile/TileTest.h"

using namespace tiletwin;
using namespace tiletwin::test;

namespace {

int widthOf(DType t) { return t == DType::I1 ? 1 : int(sizeOf(t)) * 8; }
uint64_t low(DType t, uint64_t v) { return widthOf(t) == 64 ? v : v & ((1ull << widthOf(t)) - 1); }
int64_t asSigned(DType t, uint64_t v) { return int64_t(v << (64 - widthOf(t))) >> (64 - widthOf(t)); }

std::vector<uint64_t> sources(DType t, DType to) {
  std::vector<uint64_t> out = edges(t);
  if (sizeOf(t) == 2)
    for (uint64_t i = 0; i < 65536; i += sizeOf(to) <= 2 ? 1 : 7) out.push_back(i);
  std::mt19937_64 random(13);
  if (sizeOf(t) >= 4) {
    for (int i = 0; i < 3000; ++i) out.push_back(low(t, random() >> (random() % 40)));
    if (isFloat(t)) {
      for (int i = 0; i < 3000; ++i)
        out.push_back(encode(t, std::ldexp(double(random() % 4096) / 16 + (i % 2 ? 0 : 1e-7), int(random() % 60) - 40) *
                                    (i % 3 ? 1 : -1)));
      for (double v : {2147483647.0, 2147483648.0, -2147483648.0, -2147483649.0, 4294967295.0, 4294967296.0, 9.3e18,
                       -9.3e18, 1.8e19, 1.9e19, 255.5, -128.7, 1e300, -1e300})
        out.push_back(encode(t, v));
    } else {
      for (int s = 20; s < 64; ++s)
        for (int64_t d : {-1, 0, 1})
          out.push_back(low(t, (1ull << s) + (1ull << (s - 12)) + uint64_t(d))),
              out.push_back(low(t, (1ull << s) + (1ull << (s - 8)) + uint64_t(d)));
    }
  }
  return out;
}

uint64_t saturated(DType from, double v, int width, bool isSigned) {
  if (std::isnan(v)) return width == 64 || from == DType::F64 ? 1ull << (width - 1) : 0;
  v = std::trunc(v);
  if (isSigned) {
    const double limit = std::ldexp(1.0, width - 1);
    if (v >= limit) return (1ull << (width - 1)) - 1;
    return v < -limit ? 1ull << (width - 1) : uint64_t(int64_t(v));
  }
  if (v <= 0) return 0;
  return v >= std::ldexp(1.0, width) ? ~0ull : uint64_t(v);
}
/// An integer rounded once to a float type, by way of a sticky bit.
uint64_t fromInteger(DType to, bool negative, uint64_t magnitude) {
  if (to == DType::F64) return std::bit_cast<uint64_t>(negative ? -double(magnitude) : double(magnitude));
  if (to == DType::F32) return std::bit_cast<uint32_t>(negative ? -float(magnitude) : float(magnitude));
  int shift = 0;
  uint64_t m = magnitude, lost = 0;
  while (m >> 40) lost |= m & 1, m >>= 1, ++shift;
  const double v = std::ldexp(double(m | lost), shift);
  return encode(to, negative ? -v : v);
}

uint64_t expected(DType from, DType to, TwCastKind kind, uint64_t bits) {
  const bool isSigned = kind != TwCastKind::UnsignedInt;
  if (isFloat(from)) {
    const double v = decode(from, bits);
    if (to == DType::I1) return v != 0;
    if (!isFloat(to)) return low(to, saturated(from, v, sizeOf(to) < 4 ? 16 : int(sizeOf(to)) * 8, isSigned));
    if (kind != TwCastKind::TruncateToward0 || to == DType::F64 || (to == DType::F32 && from != DType::F64))
      return encode(to, v);
    if (to != DType::F32) return encode(to, v, Rounding::TowardZero);
    float f = float(v);
    if (std::fabs(double(f)) > std::fabs(v)) f = std::nextafter(f, 0.f);
    return std::bit_cast<uint32_t>(f);
  }
  const int64_t s = asSigned(from, bits);
  if (to == DType::I1) return bits != 0;
  if (!isFloat(to)) return low(to, isSigned ? uint64_t(s) : bits);
  return isSigned && s < 0 ? fromInteger(to, true, 0 - uint64_t(s))
                           : fromInteger(to, false, isSigned ? uint64_t(s) : bits);
}

void checkCast(DType from, DType to, TwCastKind kind) {
  const TwStripFn fn = ops().cast(from, to, kind);
  BOOST_REQUIRE_MESSAGE(fn, "no cast " << kindOf(from) << " to " << kindOf(to));
  int errors = 0;
  runStrip(fn, to, {from}, {sources(from, to)}, [&](const uint64_t* in, uint64_t got) {
    const uint64_t want = expected(from, to, kind, in[0]);
    const bool same = isFloat(to) ? sameFloat(to, got, want) : got == want;
    if (!same && ++errors < 4)
      BOOST_ERROR(kindOf(from) << " to " << kindOf(to) << " kind " << int(kind) << ": "
                               << (isFloat(from) ? decode(from, in[0]) : double(in[0])) << " (bits " << in[0]
                               << ") gives " << got << ", not " << want);
  });
}

} // namespace

BOOST_AUTO_TEST_CASE(every_pair) {
  std::vector<DType> all(std::begin(kFloats), std::end(kFloats));
  all.insert(all.end(), std::begin(kInts), std::end(kInts));
  for (DType from : all)
    for (DType to : all) {
      checkCast(from, to, TwCastKind::SignedInt);
      if (!isFloat(from) || !isFloat(to)) checkCast(from, to, TwCastKind::UnsignedInt);
      if (isFloat(from) && isFloat(to)) checkCast(from, to, TwCastKind::TruncateToward0);
    }
}
BOOST_AUTO_TEST_CASE(recorded_saturation) {
  // What an H200 gave for f32 to integers; 8 bits go through 16.
  struct Row {
    float x;
    DType to;
    TwCastKind kind;
    uint64_t bits;
  };
  const Row rows[] = {
      {INFINITY, DType::I8, TwCastKind::SignedInt, 0xFF},
      {-INFINITY, DType::I8, TwCastKind::SignedInt, 0},
      {NAN, DType::I32, TwCastKind::SignedInt, 0},
      {INFINITY, DType::I32, TwCastKind::SignedInt, 0x7FFFFFFF},
      {NAN, DType::I64, TwCastKind::SignedInt, 1ull << 63},
      {300.7f, DType::I8, TwCastKind::SignedInt, 44},
      {INFINITY, DType::I16, TwCastKind::SignedInt, 0x7FFF},
      {61440.f, DType::I8, TwCastKind::SignedInt, 0xFF},
      {1548698.5f, DType::I8, TwCastKind::UnsignedInt, 0xFF},
  };
  for (const Row& row : rows) {
    uint64_t out = 0;
    const void* src[] = {&row.x};
    ops().cast(DType::F32, row.to, row.kind)(1, &out, src, 0);
    BOOST_TEST(out == row.bits);
  }
}
BOOST_AUTO_TEST_CASE(pointers_are_64_bit_integers) {
  const int32_t minus = -1;
  uint64_t out = 0;
  const void* src[] = {&minus};
  ops().cast(DType::I32, DType::Ptr, TwCastKind::SignedInt)(1, &out, src, 0);
  BOOST_TEST(out == ~0ull);
}
