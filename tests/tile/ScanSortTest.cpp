// tests/tile/ScanSortTest.cpp -- scans, sorting networks, tile gathers and histograms against plain loops.
#include "tests/tile/TileTest.h"
#include <algorithm>
#include <functional>

using namespace tiletwin;
using namespace tiletwin::test;
using R = TwReduce;

namespace {

struct Shape {
  int64_t outer, axis, inner;
};
const Shape kShapes[] = {{1, 1, 1},   {3, 1, 5},   {2, 2, 1}, {3, 7, 1},   {2, 16, 1}, {3, 33, 1},
                         {1, 256, 1}, {2, 100, 1}, {2, 5, 3}, {1, 64, 64}, {3, 9, 70}, {1, 128, 33}};

uint64_t mix(uint64_t i) {
  i = (i + 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
  return (i ^ (i >> 29)) * 0x94D049BB133111EBu >> 7;
}
uint64_t low(uint64_t v, size_t bytes) { return bytes == 8 ? v : v & ((1ull << 8 * bytes) - 1); }
int64_t asSigned(DType t, uint64_t v) {
  if (t == DType::I1) return -int64_t(v & 1);
  const int unused = 64 - 8 * int(sizeOf(t));
  return int64_t(v << unused) >> unused;
}

/// Compares a scan with the loop that combines left to right (or right to left), `same` deciding.
void checkScan(TwScanFn fn, DType t, const std::function<uint64_t(uint64_t)>& element,
               const std::function<uint64_t(uint64_t, uint64_t)>& combine,
               const std::function<bool(uint64_t, uint64_t)>& same) {
  BOOST_REQUIRE(fn);
  const size_t bytes = sizeOf(t);
  for (const Shape& s : kShapes)
    for (bool reverse : {false, true}) {
      const int64_t block = s.axis * s.inner, padding = 3;
      std::vector<uint8_t> src(size_t(s.outer * (block + padding)) * bytes, 0xEE);
      for (int64_t o = 0; o < s.outer; ++o)
        for (int64_t i = 0; i < block; ++i)
          writeBits(src.data(), size_t(o * (block + padding) + i), bytes, element(uint64_t(o * block + i)));
      Guarded out(size_t(s.outer * block) * bytes);
      fn(s.outer, s.axis, s.inner, out.data(), src.data(), (block + padding) * int64_t(bytes), reverse);
      BOOST_REQUIRE(out.whole());
      for (int64_t o = 0; o < s.outer; ++o)
        for (int64_t i = 0; i < s.inner; ++i) {
          uint64_t sum = 0;
          for (int64_t k = 0; k < s.axis; ++k) {
            const int64_t at = (reverse ? s.axis - 1 - k : k) * s.inner + i;
            const uint64_t x = readBits(src.data(), size_t(o * (block + padding) + at), bytes);
            sum = k ? combine(sum, x) : x;
            const uint64_t got = readBits(out.data(), size_t(o * block + at), bytes);
            if (!same(got, sum)) {
              BOOST_ERROR(kindOf(t) << " [" << s.outer << "][" << s.axis << "][" << s.inner << "]"
                                    << (reverse ? " reverse" : "") << " element " << at << ": " << got << ", not "
                                    << sum);
              return;
            }
          }
        }
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(scans_of_integers) {
  for (DType t : kInts) {
    const size_t bytes = sizeOf(t);
    const auto trim = [&](uint64_t v) { return t == DType::I1 ? v & 1 : low(v, bytes); };
    const auto element = [&](uint64_t i) { return trim(mix(i)); };
    const auto check = [&](R kind, std::function<uint64_t(uint64_t, uint64_t)> f) {
      checkScan(
          ops().scan(kind, t), t, element, [&](uint64_t a, uint64_t b) { return trim(f(a, b)); }, std::equal_to<>());
    };
    check(R::AddI, [](uint64_t a, uint64_t b) { return a + b; });
    check(R::MulI, [](uint64_t a, uint64_t b) { return a * b; });
    check(R::AndI, [](uint64_t a, uint64_t b) { return a & b; });
    check(R::OrI, [](uint64_t a, uint64_t b) { return a | b; });
    check(R::XorI, [](uint64_t a, uint64_t b) { return a ^ b; });
    check(R::MaxUI, [](uint64_t a, uint64_t b) { return std::max(a, b); });
    check(R::MinUI, [](uint64_t a, uint64_t b) { return std::min(a, b); });
    check(R::MaxSI, [&](uint64_t a, uint64_t b) { return asSigned(t, a) > asSigned(t, b) ? a : b; });
    check(R::MinSI, [&](uint64_t a, uint64_t b) { return asSigned(t, a) < asSigned(t, b) ? a : b; });
  }
}

BOOST_AUTO_TEST_CASE(scans_of_floats_with_exact_values) {
  for (DType t : kFloats) {
    const auto same = [&](uint64_t a, uint64_t b) { return sameFloat(t, a, b); };
    // Multiples of a quarter whose sums stay small enough to be exact in every order.
    const auto step = [&](uint64_t i) { return encode(t, i % 2 ? 0.25 : -0.25); };
    checkScan(
        ops().scan(R::AddF, t), t, step, [&](uint64_t a, uint64_t b) { return encode(t, decode(t, a) + decode(t, b)); },
        [&](uint64_t a, uint64_t b) { return decode(t, a) == decode(t, b); });
    const auto signs = [&](uint64_t i) { return encode(t, mix(i) % 2 ? 1.0 : -1.0); };
    checkScan(
        ops().scan(R::MulF, t), t, signs,
        [&](uint64_t a, uint64_t b) { return encode(t, decode(t, a) * decode(t, b)); }, same);
    const auto patterns = edges(t);
    const auto any = [&](uint64_t i) { return patterns[mix(i) % patterns.size()]; };
    const auto zerosEqual = [&](uint64_t a, uint64_t b) { return sameFloat(t, a, b) || decode(t, a) == decode(t, b); };
    checkScan(
        ops().scan(R::MaxNumF, t), t, any,
        [&](uint64_t a, uint64_t b) { return encode(t, std::fmax(decode(t, a), decode(t, b))); }, zerosEqual);
    checkScan(
        ops().scan(R::MinNumF, t), t, any,
        [&](uint64_t a, uint64_t b) { return encode(t, std::fmin(decode(t, a), decode(t, b))); }, zerosEqual);
    checkScan(
        ops().scan(R::MaximumF, t), t, any,
        [&](uint64_t a, uint64_t b) {
          const double x = decode(t, a), y = decode(t, b);
          return encode(t, std::isnan(x) || std::isnan(y) ? NAN : std::fmax(x, y));
        },
        zerosEqual);
    checkScan(
        ops().scan(R::MinimumF, t), t, any,
        [&](uint64_t a, uint64_t b) {
          const double x = decode(t, a), y = decode(t, b);
          return encode(t, std::isnan(x) || std::isnan(y) ? NAN : std::fmin(x, y));
        },
        zerosEqual);
  }
}

/// The formula of a step, element by element.
static std::vector<uint64_t> oneStep(DType t, bool isSigned, const std::vector<uint64_t>& x, const TwSortStep& s) {
  const auto greater = [&](uint64_t a, uint64_t b) {
    if (isFloat(t)) return decode(t, a) > decode(t, b);
    return isSigned ? asSigned(t, a) > asSigned(t, b) : a > b;
  };
  std::vector<uint64_t> out(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const uint64_t y = x[i ^ (size_t(1) << s.bit)];
    const bool flip = s.flip >= 0 ? i >> s.flip & 1 : s.flip == kTwSortDescending, right = i >> s.bit & 1;
    out[i] = greater(x[i], y) != (flip != right) ? y : x[i];
  }
  return out;
}

BOOST_AUTO_TEST_CASE(networks_follow_the_formula_of_their_steps) {
  for (DType t : {DType::I8, DType::I16, DType::I32, DType::I64, DType::F16, DType::BF16, DType::F32, DType::F64})
    for (bool isSigned : {false, true}) {
      const TwSortFn fn = ops().sort(t, isSigned);
      BOOST_REQUIRE(fn);
      const auto patterns = edges(t); // NaNs and both zeros among them
      for (int log = 1; log <= 14; ++log) {
        std::vector<TwSortStep> steps; // a whole sort, then every step once in both directions
        for (int stage = 1; stage <= log; ++stage)
          for (int bit = stage; bit-- > 0;)
            steps.push_back({uint8_t(bit), int8_t(stage < log ? stage
                                                  : log % 2   ? kTwSortDescending
                                                              : kTwSortAscending)});
        for (int bit = 0; bit < log; ++bit)
          for (int flip = bit + 1; flip < log; flip += 3) steps.push_back({uint8_t(bit), int8_t(flip)});
        std::vector<uint64_t> x(size_t(1) << log);
        for (size_t i = 0; i < x.size(); ++i)
          x[i] = mix(i) % 3 ? low(mix(i * 7), sizeOf(t)) : patterns[mix(i) % patterns.size()];
        Guarded data(x.size() * sizeOf(t));
        for (size_t i = 0; i < x.size(); ++i) writeBits(data.data(), i, sizeOf(t), x[i]);
        fn(int64_t(x.size()), data.data(), steps.data(), int64_t(steps.size()));
        BOOST_REQUIRE(data.whole());
        for (const TwSortStep& s : steps) x = oneStep(t, isSigned, x, s);
        for (size_t i = 0; i < x.size(); ++i)
          if (readBits(data.data(), i, sizeOf(t)) != x[i]) {
            BOOST_ERROR(kindOf(t) << (isSigned ? " signed" : "") << " 2^" << log << " element " << i);
            return;
          }
      }
    }
}

BOOST_AUTO_TEST_CASE(gathers_along_an_axis) {
  for (int64_t bytes : {1, 2, 4, 8})
    for (int64_t indexBytes : {1, 2, 4, 8})
      for (const Shape& s : kShapes) {
        const int64_t length = std::min<int64_t>(s.axis, 200), count = s.axis / 2 + 1;
        const TwTileGatherFn fn = ops().tileGather(bytes, indexBytes);
        BOOST_REQUIRE(fn);
        std::vector<uint8_t> src(size_t(s.outer * length * s.inner * bytes)),
            index(size_t(s.outer * count * s.inner * indexBytes));
        for (size_t i = 0; i < src.size(); ++i) src[i] = uint8_t(mix(i));
        const int64_t n = s.outer * count * s.inner;
        for (int64_t i = 0; i < n; ++i)
          writeBits(index.data(), size_t(i), size_t(indexBytes), mix(uint64_t(i)) % uint64_t(length));
        Guarded out(size_t(n * bytes));
        BOOST_TEST(fn(s.outer, length, count, s.inner, out.data(), src.data(), index.data()) == -1);
        BOOST_REQUIRE(out.whole());
        for (int64_t o = 0; o < s.outer; ++o)
          for (int64_t j = 0; j < count; ++j)
            for (int64_t i = 0; i < s.inner; ++i) {
              const int64_t e = (o * count + j) * s.inner + i;
              const int64_t from =
                  (o * length + int64_t(readBits(index.data(), size_t(e), size_t(indexBytes)))) * s.inner + i;
              BOOST_REQUIRE(readBits(out.data(), size_t(e), size_t(bytes)) ==
                            readBits(src.data(), size_t(from), size_t(bytes)));
            }
        // The first index outside is named, wherever it stands; a negative one counts as large.
        for (int64_t bad : {int64_t(0), n / 2, n - 1}) {
          auto broken = index;
          writeBits(broken.data(), size_t(bad), size_t(indexBytes), indexBytes == 1 ? 250 : ~0ull);
          BOOST_TEST(fn(s.outer, length, count, s.inner, out.data(), src.data(), broken.data()) == bad);
        }
      }
}

BOOST_AUTO_TEST_CASE(histograms) {
  for (int64_t bytes : {4, 8})
    for (int64_t bins : {1, 2, 64, 1024, 4096})
      for (int64_t n : {1, 7, 64, 20000})
        for (bool masked : {false, true}) {
          std::vector<uint8_t> src(size_t(n * bytes)), mask(static_cast<size_t>(n));
          std::vector<int32_t> want(static_cast<size_t>(bins));
          for (int64_t i = 0; i < n; ++i) {
            const int64_t v = int64_t(mix(uint64_t(i)) % uint64_t(bins + 4)) - 2;
            writeBits(src.data(), size_t(i), size_t(bytes), uint64_t(v));
            mask[size_t(i)] = mix(uint64_t(i) + 99) % 2;
            if (v >= 0 && v < bins && (!masked || mask[size_t(i)])) ++want[size_t(v)];
          }
          Guarded out(size_t(bins) * 4);
          ops().histogram(n, bins, reinterpret_cast<int32_t*>(out.data()), src.data(), masked ? mask.data() : nullptr,
                          bytes);
          BOOST_REQUIRE(out.whole());
          BOOST_TEST(std::memcmp(out.data(), want.data(), size_t(bins) * 4) == 0);
        }
}
