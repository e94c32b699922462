// tests/tile/ReduceTest.cpp -- reductions against plain loops: odd lengths, both layouts, rows apart in memory, NaNs
// and ties.
#include "tests/tile/TileTest.h"
#include <functional>
#include <span>

using namespace tiletwin;
using namespace tiletwin::test;
using R = TwReduce;

namespace {

struct Shape {
  int64_t outer, axis, inner;
};
const Shape kShapes[] = {{1, 1, 1},    {3, 1, 5},   {2, 7, 1}, {3, 16, 1}, {5, 33, 1},   {2, 256, 1},
                         {2, 1000, 1}, {1, 64, 64}, {2, 9, 3}, {3, 5, 70}, {1, 128, 33}, {4, 2, 1}};

/// Elements of a tile with `padding` more elements after each row block.
template <class F> std::vector<uint8_t> tile(const Shape& s, size_t bytes, int64_t padding, F element) {
  std::vector<uint8_t> data(size_t(s.outer * (s.axis * s.inner + padding)) * bytes, 0xEE);
  for (int64_t o = 0; o < s.outer; ++o)
    for (int64_t i = 0; i < s.axis * s.inner; ++i)
      writeBits(data.data(), size_t(o * (s.axis * s.inner + padding) + i), bytes, element(o, i / s.inner, i % s.inner));
  return data;
}
/// Runs a reduction on a tile and calls check(column of bits, result) for every output.
template <class F, class Check> void runReduce(TwReduceFn fn, DType t, F element, Check check) {
  BOOST_REQUIRE(fn);
  const size_t bytes = sizeOf(t);
  for (const Shape& s : kShapes) {
    const int64_t padding = 3;
    const auto data = tile(s, bytes, padding, element);
    Guarded out(size_t(s.outer * s.inner) * bytes);
    const TwRows rows{data.data(), (s.axis * s.inner + padding) * int64_t(bytes)};
    fn(s.outer, s.axis, s.inner, out.data(), &rows);
    BOOST_REQUIRE(out.whole());
    for (int64_t o = 0; o < s.outer; ++o)
      for (int64_t i = 0; i < s.inner; ++i) {
        std::vector<uint64_t> column;
        for (int64_t a = 0; a < s.axis; ++a) column.push_back(element(o, a, i));
        check(column, readBits(out.data(), size_t(o * s.inner + i), bytes));
      }
  }
}
uint64_t mix(int64_t o, int64_t a, int64_t i) {
  std::mt19937_64 random(uint64_t(o * 1000003 + a * 1009 + i));
  return random();
}
double epsilonOf(DType t) {
  return t == DType::F64 ? 0x1p-52 : t == DType::F32 ? 0x1p-23 : std::ldexp(1.0, -smallFloat(t).mantissaBits);
}

} // namespace

BOOST_AUTO_TEST_CASE(float_sums_and_products) {
  for (DType t : kFloats) {
    const auto element = [&](int64_t o, int64_t a, int64_t i) {
      return encode(t, (double(mix(o, a, i) % 2001) - 1000) / 4000);
    };
    runReduce(ops().reduce(R::AddF, t), t, element, [&](const std::vector<uint64_t>& column, uint64_t got) {
      double sum = 0, size = 0;
      for (uint64_t b : column) sum += decode(t, b), size += std::fabs(decode(t, b));
      const double bound = double(column.size()) * epsilonOf(t) * size;
      if (std::fabs(decode(t, got) - sum) > bound)
        BOOST_ERROR(kindOf(t) << " sum of " << column.size() << ": " << decode(t, got) << ", not " << sum);
    });
    const auto factor = [&](int64_t o, int64_t a, int64_t i) {
      return encode(t, mix(o, a, i) % 3 == 0 ? 1.0 : mix(o, a, i) % 3 == 1 ? -1.0 : (a % 2 ? 2.0 : 0.5));
    };
    runReduce(ops().reduce(R::MulF, t), t, factor, [&](const std::vector<uint64_t>& column, uint64_t got) {
      double product = 1, low = 0, high = 0, log = 0; // powers of two: exact unless partial products leave the range
      for (uint64_t b : column)
        product *= decode(t, b), log += std::log2(std::fabs(decode(t, b))), low = std::min(low, log),
                                                                            high = std::max(high, log);
      if (column.size() <= 16 && high < 7 && low > -6 && decode(t, got) != product)
        BOOST_ERROR(kindOf(t) << " product " << decode(t, got) << ", not " << product);
    });
  }
}
BOOST_AUTO_TEST_CASE(narrow_sums_round_every_partial_result) {
  // 2048 + 1 is not an f16: a sum kept in f32 would give 2048 + 16.
  std::vector<uint16_t> x(2, f32ToF16(1));
  x[0] = f32ToF16(2048);
  uint16_t out[1];
  const TwRows row{x.data(), 4};
  ops().reduce(R::AddF, DType::F16)(1, 2, 1, out, &row);
  BOOST_TEST(f16ToF32(out[0]) == 2048.f);
  std::vector<uint16_t> column = {f32ToF16(2048), f32ToF16(1), f32ToF16(1), f32ToF16(1)}; // two columns of two rows
  uint16_t two[2];
  const TwRows columns{column.data(), 8};
  ops().reduce(R::AddF, DType::F16)(1, 2, 2, two, &columns);
  BOOST_TEST(f16ToF32(two[0]) == 2048.f);
  BOOST_TEST(f16ToF32(two[1]) == 2.f);
}
BOOST_AUTO_TEST_CASE(float_extrema) {
  for (DType t : kFloats) {
    for (int variant = 0; variant < 4; ++variant) { // numbers; some NaNs; mostly NaNs; zeros of both signs with NaNs
      const auto element = [&](int64_t o, int64_t a, int64_t i) -> uint64_t {
        const uint64_t m = mix(o, a, i);
        if (variant == 1 && m % 5 == 0) return encode(t, NAN);
        if (variant == 2 && m % 20 != 0) return encode(t, NAN);
        if (variant == 3) return encode(t, m % 3 == 0 ? 0.0 : m % 3 == 1 ? -0.0 : double(NAN));
        return encode(t, (double(m % 4001) - 2000) / 8);
      };
      struct Row {
        R op;
        bool max, propagate;
      };
      for (const Row& row : {Row{R::MaxNumF, true, false}, Row{R::MinNumF, false, false}, Row{R::MaximumF, true, true},
                             Row{R::MinimumF, false, true}}) {
        runReduce(ops().reduce(row.op, t), t, element, [&](const std::vector<uint64_t>& column, uint64_t got) {
          bool any = false, nan = false;
          double best = NAN;
          for (uint64_t b : column) {
            const double v = decode(t, b);
            if (std::isnan(v)) {
              nan = true;
              continue;
            }
            const bool zeroWins = v == best && v == 0 && std::signbit(best) == row.max && std::signbit(v) != row.max;
            if (!any || (row.max ? v > best : v < best) || zeroWins) best = v;
            any = true;
          }
          const uint64_t want = encode(t, (row.propagate && nan) || !any ? NAN : best);
          if (!sameFloat(t, got, want))
            BOOST_ERROR(kindOf(t) << " op " << int(row.op) << " variant " << variant << " of " << column.size() << ": "
                                  << decode(t, got) << ", not " << decode(t, want));
        });
      }
    }
  }
}
BOOST_AUTO_TEST_CASE(integers) {
  for (DType t : kInts) {
    const int width = t == DType::I1 ? 1 : int(sizeOf(t)) * 8;
    const uint64_t all = width == 64 ? ~0ull : (1ull << width) - 1;
    const auto sx = [&](uint64_t v) { return int64_t(v << (64 - width)) >> (64 - width); };
    const auto element = [&](int64_t o, int64_t a, int64_t i) { return mix(o, a, i) & all; };
    struct Row {
      R op;
      std::function<uint64_t(uint64_t, uint64_t)> fn;
    };
    const Row rows[] = {
        {R::AddI, [](uint64_t a, uint64_t b) { return a + b; }},
        {R::MulI, [](uint64_t a, uint64_t b) { return a * b; }},
        {R::MaxSI, [&](uint64_t a, uint64_t b) { return sx(a) > sx(b) ? a : b; }},
        {R::MaxUI, [](uint64_t a, uint64_t b) { return a > b ? a : b; }},
        {R::MinSI, [&](uint64_t a, uint64_t b) { return sx(a) < sx(b) ? a : b; }},
        {R::MinUI, [](uint64_t a, uint64_t b) { return a < b ? a : b; }},
        {R::AndI, [](uint64_t a, uint64_t b) { return a & b; }},
        {R::OrI, [](uint64_t a, uint64_t b) { return a | b; }},
        {R::XorI, [](uint64_t a, uint64_t b) { return a ^ b; }},
    };
    for (const Row& row : rows)
      runReduce(ops().reduce(row.op, t), t, element, [&](const std::vector<uint64_t>& column, uint64_t got) {
        uint64_t want = column[0];
        for (size_t a = 1; a < column.size(); ++a) want = row.fn(want, column[a]) & all;
        if (got != want)
          BOOST_ERROR(kindOf(t) << " op " << int(row.op) << " of " << column.size() << ": " << got << ", not " << want);
      });
  }
}
BOOST_AUTO_TEST_CASE(arg_reductions) {
  std::vector<DType> types(std::begin(kFloats), std::end(kFloats));
  types.insert(types.end(), std::begin(kInts), std::end(kInts));
  for (DType t : types) {
    const int width = t == DType::I1 ? 1 : int(sizeOf(t)) * 8;
    for (R op : {R::ArgMaxF, R::ArgMinF, R::ArgMaxSI, R::ArgMinSI, R::ArgMaxUI, R::ArgMinUI}) {
      const bool floatOp = op <= R::ArgMinF, max = op == R::ArgMaxF || op == R::ArgMaxSI || op == R::ArgMaxUI;
      const TwArgReduceFn fn = ops().argReduce(op, t);
      if (floatOp != isFloat(t)) {
        BOOST_TEST(!fn);
        continue;
      }
      BOOST_REQUIRE(fn);
      const auto value = [&](uint64_t b) -> long double {
        if (isFloat(t)) return decode(t, b);
        return op >= R::ArgMaxUI ? (long double)b : (long double)(int64_t(b << (64 - width)) >> (64 - width));
      };
      for (int nans = 0; nans < (floatOp ? 3 : 1); ++nans) // none, some, nothing but two numbers
        for (const TwArgTie tie : {kTwLowestIndex, kTwRight})
          for (int ownIndex = 0; ownIndex < 3; ++ownIndex) // 0, 1, ...; others; the same ones several times
            for (const Shape& s : kShapes) {
              const auto element = [&](int64_t o, int64_t a, int64_t i) -> uint64_t {
                const uint64_t m = mix(o, a, i);
                if (!isFloat(t)) return (m % 7 + (width > 4 ? 120 : 0)) & (width == 64 ? ~0ull : (1ull << width) - 1);
                if (nans == 1 && m % 4 == 0) return encode(t, m % 8 ? NAN : -NAN);
                if (nans == 2 && m % 16 > 1) return encode(t, NAN);
                return encode(t, m % 9 == 0 ? -0.0 : double(m % 9) - (nans ? 4 : 0));
              };
              const auto data = tile(s, sizeOf(t), 0, element);
              const size_t outputs = size_t(s.outer * s.inner);
              std::vector<int32_t> indices(size_t(s.outer * s.axis * s.inner));
              for (size_t k = 0; k < indices.size(); ++k)
                indices[k] = int32_t((k * 7919) % (ownIndex == 2 ? 3 : 101)) - 1;
              Guarded values(outputs * sizeOf(t)), places(outputs * 4);
              fn(s.outer, s.axis, s.inner, values.data(), reinterpret_cast<int32_t*>(places.data()), data.data(),
                 ownIndex ? indices.data() : nullptr, tie);
              BOOST_REQUIRE(values.whole() && places.whole());
              for (int64_t o = 0; o < s.outer; ++o)
                for (int64_t i = 0; i < s.inner; ++i) {
                  const auto at = [&](int64_t a) { return size_t((o * s.axis + a) * s.inner + i); };
                  const auto indexAt = [&](int64_t a) { return ownIndex ? indices[at(a)] : int32_t(a); };
                  // The region on neighbours, then on what is left of them.
                  struct One {
                    long double value;
                    int64_t place;
                  };
                  std::vector<One> left;
                  for (int64_t a = 0; a < s.axis; ++a)
                    left.push_back({value(readBits(data.data(), at(a), sizeOf(t))), a});
                  for (size_t count = left.size(); count > 1; count = (count + 1) / 2)
                    for (size_t k = 0; k < count; k += 2) {
                      const One l = left[k], r = k + 1 < count ? left[k + 1] : l;
                      const bool stays =
                          k + 1 == count || (max ? l.value > r.value : l.value < r.value) ||
                          (tie == kTwLowestIndex && l.value == r.value && indexAt(l.place) < indexAt(r.place));
                      left[k / 2] = stays ? l : r;
                    }
                  const int64_t best = left[0].place;
                  const size_t out = size_t(o * s.inner + i);
                  int32_t gotIndex;
                  std::memcpy(&gotIndex, places.data() + out * 4, 4);
                  if (gotIndex != indexAt(best) ||
                      readBits(values.data(), out, sizeOf(t)) != readBits(data.data(), at(best), sizeOf(t)))
                    BOOST_ERROR(kindOf(t)
                                << " op " << int(op) << " axis " << s.axis << " inner " << s.inner << " nans " << nans
                                << " tie " << int(tie) << ": index " << gotIndex << ", not " << indexAt(best));
                }
            }
    }
  }
}

BOOST_AUTO_TEST_CASE(sums_that_compute_what_they_add_have_the_bits_of_their_parts) {
  const TwReduceFn sum = ops().reduce(R::AddF, DType::F32);
  const TwStripFn multiply = ops().elementwise(TwElementwise::MulF, DType::F32);
  for (DType a : {DType::F32, DType::F16, DType::BF16})
    for (DType b : {DType::F32, DType::F16, DType::BF16})
      for (const int64_t axis : {1, 5, 16, 33, 64, 127, 128, 500, 1000})
        for (const bool broadcast : {false, true}) {
          constexpr int64_t kOuter = 3, kPadding = 5;
          const auto element = [](DType t, int64_t seed) {
            return
                [=](int64_t o, int64_t i, int64_t) { return encode(t, (double(mix(o, i, seed) % 2001) - 1000) / 300); };
          };
          const Shape shape{kOuter, axis, 1};
          const auto left = tile(shape, sizeOf(a), kPadding, element(a, 1)),
                     right = tile(shape, sizeOf(b), kPadding, element(b, 2));
          const TwRows leftRows{left.data(), (axis + kPadding) * int64_t(sizeOf(a))},
              rightRows{right.data(), broadcast ? 0 : (axis + kPadding) * int64_t(sizeOf(b))};
          const auto widened = [&](DType t, const TwRows& rows, int64_t o) {
            std::vector<float> row(size_t(axis) + 1);
            const void* src[3] = {static_cast<const uint8_t*>(rows.first) + o * rows.stride};
            const TwStripFn fn = t == DType::F32 ? ops().elementwise(TwElementwise::Copy, t)
                                                 : ops().cast(t, DType::F32, TwCastKind::SignedInt);
            fn(axis, row.data(), src, 0);
            return row;
          };
          const auto check = [&](TwSumFn fn, bool product) {
            BOOST_REQUIRE(fn);
            Guarded out(kOuter * sizeof(float));
            fn(kOuter, axis, reinterpret_cast<float*>(out.data()), &leftRows, product ? &rightRows : nullptr);
            BOOST_REQUIRE(out.whole());
            for (int64_t o = 0; o < kOuter; ++o) {
              std::vector<float> terms = widened(a, leftRows, o);
              if (product) {
                const std::vector<float> x = terms, y = widened(b, rightRows, o);
                const void* src[3] = {x.data(), y.data()};
                multiply(axis, terms.data(), src, 0);
              }
              float expected = 0;
              const TwRows row{terms.data(), axis * int64_t(sizeof(float))};
              sum(1, axis, 1, &expected, &row);
              BOOST_REQUIRE_EQUAL(readBits(out.data(), size_t(o), 4), std::bit_cast<uint32_t>(expected));
            }
          };
          check(ops().sumOfProducts(a, b), true);
          if (a != DType::F32) check(ops().sumOf(a), false);
        }
  BOOST_TEST(!ops().sumOf(DType::F32)); // reduce() does that
  BOOST_TEST(!ops().sumOf(DType::F64));
  BOOST_TEST(!ops().sumOfProducts(DType::F64, DType::F32));
  BOOST_TEST(!ops().sumOfProducts(DType::F32, DType::I32));
}

namespace {

/// Calls check(axis, there, rest, whole rows, the same rows without what is behind `there`) for cuts of all kinds.
template <class Check> void forCutRows(DType t, Check check) {
  const size_t bytes = sizeOf(t);
  std::vector<uint64_t> rests;
  if (isFloat(t))
    for (double v : {0.0, -0.0, 1.5, double(NAN), -double(INFINITY), double(INFINITY)}) rests.push_back(encode(t, v));
  else
    rests = {0, 1};
  for (const int64_t axis : {1, 5, 32, 128, 500, 512, 1024})
    for (const int64_t there : {int64_t(0), int64_t(1), int64_t(16), axis / 2 + 3, axis - 1, axis, axis + 9})
      for (const uint64_t rest : rests) {
        constexpr int64_t kOuter = 2;
        const auto element = [&](int64_t o, int64_t i, int64_t) {
          if (i >= there) return rest;
          return isFloat(t) ? encode(t, (double(mix(o, i, 7) % 2001) - 1000) / 300)
                            : mix(o, i, 7) & (t == DType::I1 ? 1 : 0xFF);
        };
        const auto whole = tile({kOuter, axis, 1}, bytes, 0, element);
        std::vector<uint8_t> cut(whole.size(), 0x77);
        for (int64_t o = 0; o < kOuter; ++o)
          std::memcpy(cut.data() + size_t(o * axis) * bytes, whole.data() + size_t(o * axis) * bytes,
                      size_t(std::min(there, axis)) * bytes);
        check(axis, there, rest, TwRows{whole.data(), axis * int64_t(bytes)},
              TwRows{cut.data(), axis * int64_t(bytes), there, &rest});
      }
}

} // namespace

BOOST_AUTO_TEST_CASE(rows_that_are_cut_reduce_as_whole_ones) {
  for (const auto& types : {std::span<const DType>(kFloats), std::span<const DType>(kInts)})
    for (DType t : types)
      for (int op = 0; op < int(R::ArgMaxF); ++op) {
        const TwReduceFn fn = ops().reduce(R(op), t);
        if (!fn) continue;
        forCutRows(t, [&](int64_t axis, int64_t there, uint64_t rest, const TwRows& whole, const TwRows& cut) {
          const size_t bytes = sizeOf(t);
          uint64_t expected[2] = {}, got[2] = {};
          fn(2, axis, 1, expected, &whole);
          fn(2, axis, 1, got, &cut);
          for (size_t o = 0; o < 2; ++o) {
            const uint64_t a = readBits(expected, o, bytes), b = readBits(got, o, bytes);
            if (isFloat(t) ? !sameFloat(t, a, b) : a != b)
              BOOST_ERROR(kindOf(t) << " op " << op << " axis " << axis << " there " << there << " rest " << rest
                                    << ": " << b << ", not " << a);
          }
        });
      }
}
BOOST_AUTO_TEST_CASE(sums_of_what_is_computed_take_cut_rows) {
  for (DType a : {DType::F32, DType::F16, DType::BF16})
    forCutRows(a, [&](int64_t axis, int64_t there, uint64_t rest, const TwRows& whole, const TwRows& cut) {
      const auto check = [&](TwSumFn fn, const TwRows* wholeFactor, const TwRows* factor) {
        float expected[2], got[2];
        fn(2, axis, expected, &whole, wholeFactor);
        fn(2, axis, got, &cut, factor);
        for (size_t o = 0; o < 2; ++o)
          if (!sameFloat(DType::F32, std::bit_cast<uint32_t>(expected[o]), std::bit_cast<uint32_t>(got[o])))
            BOOST_ERROR(kindOf(a) << " axis " << axis << " there " << there << " rest " << rest << ": " << got[o]
                                  << ", not " << expected[o]);
      };
      if (a != DType::F32) check(ops().sumOf(a), nullptr, nullptr);
      check(ops().sumOfProducts(a, a), &whole, &cut);
      check(ops().sumOfProducts(a, a), &whole, &whole); // cut at one side
      // The other factor, of another type, ends elsewhere.
      std::vector<uint8_t> ones(size_t(axis) * 4), fewer(size_t(axis) * 4, 0x77);
      const uint64_t one = encode(DType::F32, 1.25);
      for (int64_t i = 0; i < axis; ++i) writeBits(ones.data(), size_t(i), 4, one);
      const int64_t end = there / 2;
      std::memcpy(fewer.data(), ones.data(), size_t(std::min(end, axis)) * 4);
      const TwRows wholeFactor{ones.data(), 0}, factor{fewer.data(), 0, end, &one};
      check(ops().sumOfProducts(a, DType::F32), &wholeFactor, &factor);
    });
}
BOOST_AUTO_TEST_CASE(sums_of_squares_of_differences_have_the_bits_of_their_parts) {
  const TwReduceFn sum = ops().reduce(R::AddF, DType::F32);
  for (DType a : {DType::F32, DType::F16, DType::BF16}) {
    const TwSquaresFn fn = ops().sumOfSquares(a);
    BOOST_REQUIRE(fn);
    forCutRows(a, [&](int64_t axis, int64_t there, uint64_t rest, const TwRows& whole, const TwRows& cut) {
      const std::pair<int64_t, int64_t> ranges[] = {{0, INT64_MAX}, {0, there},     {-3, there / 2}, {0, there + 5},
                                                    {2, there},     {1, INT64_MAX}, {9, 3},          {0, 0}};
      for (const auto& [lo, hi] : ranges) {
        const float minus = 0.37f;
        std::vector<float> terms(static_cast<size_t>(axis));
        for (int64_t i = 0; i < axis; ++i) {
          const float x = float(decode(a, readBits(whole.first, size_t(i), sizeOf(a)))), difference = x - minus;
          terms[size_t(i)] = i >= lo && i < hi ? difference * difference : 0.f;
        }
        const TwRows row{terms.data(), axis * 4};
        const TwDifferences differences{minus, lo, hi, 0};
        float expected, got[2];
        sum(1, axis, 1, &expected, &row);
        fn(axis, &got[0], &whole, &differences);
        fn(axis, &got[1], &cut, &differences);
        for (const float g : got)
          if (!sameFloat(DType::F32, std::bit_cast<uint32_t>(expected), std::bit_cast<uint32_t>(g)))
            BOOST_ERROR(kindOf(a) << " axis " << axis << " there " << there << " rest " << rest << " range " << lo
                                  << " to " << hi << ": " << g << ", not " << expected);
      }
    });
  }
  BOOST_TEST(!ops().sumOfSquares(DType::F64));
}
