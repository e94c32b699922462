// sim/numerics/TensorCore.cpp -- floating-point products of a tensor core: operands to planes, planes to sums.
// Here:      the vector path, and the path for infinities, NaNs and results too small for a normal float, one output at a time.
// Not here:  integers, bits and doubles (TensorInteger.cpp).
// Source:    measurements on an H200 (tools/record_tensor_cores.py); the published model MMA-Sim (Xie
//            et al., "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores", 2025).
#include "sim/numerics/TensorCore.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <immintrin.h>

namespace tiletwin::sim {
namespace {

/// Exponents that no finite operand has; sums of two of them still tell what they are.
constexpr int32_t kZeroExponent = -100000, kInfinityExponent = 100000, kNanExponent = 1000000;
constexpr int32_t kMinF32Exponent = -126, kMinF16Exponent = -14;

struct Layout {
  int bits, fractionBits, exponentBits;
  bool hasInfinity;
  constexpr int bias() const { return (1 << (exponentBits - 1)) - 1; }
};
constexpr Layout layoutOf(TensorFloat format) {
  switch (format) {
  case TensorFloat::F16: return {16, 10, 5, true};
  case TensorFloat::BF16: return {16, 7, 8, true};
  case TensorFloat::TF32: return {19, 10, 8, true}; // the upper 19 bits of an f32
  case TensorFloat::E4M3: return {8, 3, 4, false};
  case TensorFloat::E5M2: return {8, 2, 5, true};
  }
  return {};
}

/// Significands are widened to `significandBits` (with the leading one) and shifted left by shiftA and shiftB, so that their
/// product is in units of 2^(e - fractionBits) without a further shift. Both stay below 2^15, as _mm256_madd_epi16 wants them.
struct Scale {
  int significandBits, fractionBits, resultBits, shiftA, shiftB;
};
constexpr Scale kWide{11, 25, 23, 3, 2};  // 2 * 10 + 3 + 2 == 25
constexpr Scale kNarrow{4, 13, 13, 4, 3}; // 2 * 3 + 4 + 3 == 13
constexpr bool isNarrow(TensorFloat format) { return format == TensorFloat::E4M3 || format == TensorFloat::E5M2; }

struct Planes {
  __m256i significand, exponent, sign;
};

/// Eight elements, zero-extended.
template <TensorFloat Format> Planes unpack(__m256i raw, int sideShift, __m256i& special) {
  constexpr Layout layout = layoutOf(Format);
  constexpr Scale scale = isNarrow(Format) ? kNarrow : kWide;
  if constexpr (Format == TensorFloat::TF32) raw = _mm256_srli_epi32(raw, 13);
  const auto all = [](int32_t x) { return _mm256_set1_epi32(x); };
  const __m256i sign = _mm256_srai_epi32(_mm256_slli_epi32(raw, 32 - layout.bits), 31);
  const __m256i magnitude = _mm256_and_si256(raw, all((1 << (layout.bits - 1)) - 1));
  const __m256i fraction = _mm256_and_si256(raw, all((1 << layout.fractionBits) - 1));
  const __m256i field = _mm256_srli_epi32(magnitude, layout.fractionBits);
  const __m256i isZero = _mm256_cmpeq_epi32(magnitude, _mm256_setzero_si256());
  const __m256i isSubnormal = _mm256_cmpeq_epi32(field, _mm256_setzero_si256());
  __m256i significand = _mm256_or_si256(fraction, _mm256_andnot_si256(isSubnormal, all(1 << layout.fractionBits)));
  __m256i exponent = _mm256_sub_epi32(_mm256_max_epi32(field, all(1)), all(layout.bias()));
  exponent = _mm256_blendv_epi8(exponent, all(kZeroExponent), isZero);
  constexpr int32_t top = ((1 << layout.exponentBits) - 1) << layout.fractionBits;
  __m256i notFinite, isNan;
  if constexpr (layout.hasInfinity) {
    notFinite = _mm256_cmpgt_epi32(magnitude, all(top - 1));
    isNan = _mm256_cmpgt_epi32(magnitude, all(top));
  } else {
    notFinite = isNan = _mm256_cmpeq_epi32(magnitude, all(top | ((1 << layout.fractionBits) - 1)));
  }
  exponent = _mm256_blendv_epi8(exponent, all(kInfinityExponent), notFinite);
  exponent = _mm256_blendv_epi8(exponent, all(kNanExponent), isNan);
  special = _mm256_or_si256(special, notFinite);
  significand = _mm256_slli_epi32(significand, scale.significandBits - 1 - layout.fractionBits + sideShift);
  return {significand, exponent, sign};
}

void put(const Planes& planes, int32_t* significand, int32_t* exponent, int32_t* sign) {
  _mm256_store_si256(reinterpret_cast<__m256i*>(significand), planes.significand);
  _mm256_store_si256(reinterpret_cast<__m256i*>(exponent), planes.exponent);
  _mm256_store_si256(reinterpret_cast<__m256i*>(sign), planes.sign);
}

bool any(__m256i mask) { return !_mm256_testz_si256(mask, mask); }

/// Elements 8 * index to 8 * index + 7 of a line.
template <TensorFloat Format> __m256i loadEight(const std::byte* line, int index) {
  if constexpr (bitsOf(Format) == 32)
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(line) + index);
  else if constexpr (bitsOf(Format) == 16)
    return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(line) + index));
  else
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(line + 8 * index)));
}

/// Lane i of word[w] is word w of lines[i].
void transpose(const TileLine* lines, __m256i word[8]) {
  __m256i r[8], s[8];
  for (int i = 0; i < 8; ++i) r[i] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lines[i]));
  for (int i = 0; i < 8; i += 2) {
    s[i] = _mm256_unpacklo_epi32(r[i], r[i + 1]);
    s[i + 1] = _mm256_unpackhi_epi32(r[i], r[i + 1]);
  }
  for (int i = 0; i < 8; i += 4)
    for (int j = 0; j < 2; ++j) {
      r[i + 2 * j] = _mm256_unpacklo_epi64(s[i + j], s[i + j + 2]);
      r[i + 2 * j + 1] = _mm256_unpackhi_epi64(s[i + j], s[i + j + 2]);
    }
  for (int w = 0; w < 4; ++w) {
    word[w] = _mm256_permute2x128_si256(r[w], r[w + 4], 0x20);
    word[w + 4] = _mm256_permute2x128_si256(r[w], r[w + 4], 0x31);
  }
}

template <TensorFloat Format> void rowsToPlanes(const TileLine* lines, int rows, int terms, TensorRows& out) {
  constexpr int shift = (isNarrow(Format) ? kNarrow : kWide).shiftA;
  for (int row = 0; row < rows; ++row) {
    __m256i special = _mm256_setzero_si256();
    for (int k = 0; k < terms; k += 8)
      put(unpack<Format>(loadEight<Format>(lines[row], k / 8), shift, special), out.significand[row] + k,
          out.exponent[row] + k, out.sign[row] + k);
    out.special[row] = any(special);
  }
}

template <TensorFloat Format> void columnsToPlanes(const TileLine* lines, int terms, TensorColumns& out) {
  constexpr int shift = (isNarrow(Format) ? kNarrow : kWide).shiftB;
  constexpr int bits = bitsOf(Format), each = 32 / bits;
  __m256i word[8], special = _mm256_setzero_si256();
  transpose(lines, word);
  for (int k = 0; k < terms; ++k) {
    __m256i raw = word[k / each];
    if constexpr (each > 1)
      raw = _mm256_and_si256(_mm256_srli_epi32(raw, k % each * bits), _mm256_set1_epi32((1 << (bits % 32)) - 1));
    put(unpack<Format>(raw, shift, special), out.significand[k], out.exponent[k], out.sign[k]);
  }
  out.special = any(special);
}

template <TensorFloat Format>
void termsToPlanes(const uint16_t (*elements)[kTileColumns], int terms, TensorColumns& out) {
  __m256i special = _mm256_setzero_si256();
  for (int k = 0; k < terms; ++k) {
    const __m256i raw = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(elements[k])));
    put(unpack<Format>(raw, kWide.shiftB, special), out.significand[k], out.exponent[k], out.sign[k]);
  }
  out.special = any(special);
}

/// What an accumulator is to the sum: a significand of 24 bits, with exponents of its own format.
struct AccumulatorParts {
  uint32_t significand;
  int32_t exponent;
  bool negative;
};
AccumulatorParts partsOf(float c, Accumulator accumulator) {
  const uint32_t bits = std::bit_cast<uint32_t>(c), field = bits >> 23 & 0xFF;
  AccumulatorParts parts{bits & 0x7FFFFF, int32_t(std::max(field, 1u)) - 127, bits >> 31 != 0};
  if (field) parts.significand |= 0x800000;
  if (accumulator == Accumulator::F16 && parts.significand && parts.exponent < kMinF16Exponent) {
    parts.significand >>= std::min(31, kMinF16Exponent - parts.exponent);
    parts.exponent = kMinF16Exponent;
  }
  return parts;
}

/// sum * 2^unit, rounded as results are.
float roundedSum(int64_t sum, int unit, int resultBits, Accumulator accumulator) {
  if (sum == 0) return 0.0f;
  uint64_t magnitude = uint64_t(sum < 0 ? -sum : sum);
  const int top = 63 - std::countl_zero(magnitude);
  const int minExponent = accumulator == Accumulator::F16 ? kMinF16Exponent : kMinF32Exponent;
  const int fractionBits = accumulator == Accumulator::F16 ? 10 : resultBits;
  const int lowest = std::max(std::max(top + unit, minExponent) - fractionBits - unit, 0); // the last bit that stays
  if (lowest > 62) return sum < 0 ? -0.0f : 0.0f;
  const uint64_t lost = magnitude & ((uint64_t(1) << lowest) - 1);
  magnitude -= lost;
  if (accumulator == Accumulator::F16 && lowest > 0) {
    const uint64_t half = uint64_t(1) << (lowest - 1);
    if (lost > half || (lost == half && magnitude >> lowest & 1)) magnitude += uint64_t(1) << lowest;
  }
  const double value = std::ldexp(double(magnitude), unit);
  const bool tooLarge = accumulator == Accumulator::F16 && value >= 65536.0;
  const float result = tooLarge ? HUGE_VALF : float(value);
  return sum < 0 ? -result : result;
}

/// One output, whatever its operands are.
template <class Term> float oneSum(Term&& term, int terms, float c, const Scale& scale, Accumulator accumulator) {
  const float nan = std::bit_cast<float>(0x7FFFFFFFu);
  bool positive = c == HUGE_VALF, negative = c == -HUGE_VALF, invalid = c != c;
  AccumulatorParts parts = partsOf(c, accumulator);
  int32_t largest = parts.exponent;
  for (int k = 0; k < terms; ++k) {
    const auto [significand, ea, eb, minus] = term(k);
    const bool isInfinite = ea == kInfinityExponent || eb == kInfinityExponent;
    const bool isZero = ea == kZeroExponent || eb == kZeroExponent;
    invalid |= ea == kNanExponent || eb == kNanExponent || (isInfinite && isZero);
    if (isInfinite) (minus ? negative : positive) = true;
    if (!isZero) largest = std::max(largest, ea + eb);
  }
  if (invalid || (positive && negative)) return nan;
  if (positive || negative) return positive ? HUGE_VALF : -HUGE_VALF;
  const auto aligned = [&](uint64_t magnitude, int32_t exponent) {
    return int64_t(magnitude >> std::min(largest - exponent, 63));
  };
  int64_t sum = aligned((uint64_t(parts.significand) << scale.fractionBits) >> 23, parts.exponent);
  if (parts.negative) sum = -sum;
  for (int k = 0; k < terms; ++k) {
    const auto [significand, ea, eb, minus] = term(k);
    if (ea == kZeroExponent || eb == kZeroExponent) continue;
    const int64_t part = aligned(significand, ea + eb);
    sum += minus ? -part : part;
  }
  return roundedSum(sum, largest - scale.fractionBits, scale.resultBits, accumulator);
}

struct TermParts {
  uint64_t significand;
  int32_t ea, eb;
  bool minus;
};

[[gnu::noinline]] void addSlowly(const Scale& scale, Accumulator accumulator, const TensorRows& a, int row,
                                 const TensorColumns& b, int terms, float* sums) {
  for (int n = 0; n < kTileColumns; ++n)
    sums[n] = oneSum(
        [&](int k) -> TermParts {
          return {uint64_t(a.significand[row][k]) * uint64_t(b.significand[k][n]), a.exponent[row][k], b.exponent[k][n],
                  (a.sign[row][k] ^ b.sign[k][n]) != 0};
        },
        terms, sums[n], scale, accumulator);
}

/// Four exact sums to four results; `tiny` is set where a result is too small for a normal f32.
template <int ResultBits, Accumulator Result> __m128 roundFour(__m256d value, __m256d& tiny) {
  const __m256d magnitude = _mm256_andnot_pd(_mm256_set1_pd(-0.0), value);
  const __m256d isTiny = _mm256_and_pd(_mm256_cmp_pd(magnitude, _mm256_set1_pd(0x1p-126), _CMP_LT_OQ),
                                       _mm256_cmp_pd(magnitude, _mm256_setzero_pd(), _CMP_GT_OQ));
  tiny = _mm256_or_pd(tiny, isTiny);
  constexpr int64_t lost = (int64_t(1) << (52 - ResultBits)) - 1;
  const __m256i bits = _mm256_castpd_si256(value);
  __m256i kept = _mm256_andnot_si256(_mm256_set1_epi64x(lost), bits);
  if constexpr (Result == Accumulator::F16) {
    // Rounded to odd at 23 bits first, so that rounding to f16 sees on which side of a half the sum lies.
    const __m256i dropped = _mm256_and_si256(bits, _mm256_set1_epi64x(lost));
    const __m256i isExact = _mm256_cmpeq_epi64(dropped, _mm256_setzero_si256());
    kept = _mm256_or_si256(kept, _mm256_andnot_si256(isExact, _mm256_set1_epi64x(lost + 1)));
    return _mm_cvtph_ps(
        _mm_cvtps_ph(_mm256_cvtpd_ps(_mm256_castsi256_pd(kept)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  return _mm256_cvtpd_ps(_mm256_castsi256_pd(kept));
}

/// One row times eight columns. False: nothing was done, an operand or a result needs the slow path.
template <TensorFloat Format, int Terms, Accumulator Result>
bool addRow(const TensorRows& a, int row, const TensorColumns& b, float* sums) {
  constexpr Scale scale = isNarrow(Format) ? kNarrow : kWide;
  const auto load = [](const int32_t* p) { return _mm256_load_si256(reinterpret_cast<const __m256i*>(p)); };
  const auto all = [](int32_t x) { return _mm256_set1_epi32(x); };
  const __m256i bits = _mm256_castps_si256(_mm256_loadu_ps(sums));
  const __m256i field = _mm256_and_si256(_mm256_srli_epi32(bits, 23), all(0xFF));
  if (any(_mm256_cmpeq_epi32(field, all(0xFF)))) return false;
  const __m256i isSubnormal = _mm256_cmpeq_epi32(field, _mm256_setzero_si256());
  __m256i significand =
      _mm256_or_si256(_mm256_and_si256(bits, all(0x7FFFFF)), _mm256_andnot_si256(isSubnormal, all(0x800000)));
  __m256i exponent = _mm256_sub_epi32(_mm256_max_epi32(field, all(1)), all(127));
  if constexpr (Result == Accumulator::F16) {
    const __m256i isZero = _mm256_cmpeq_epi32(significand, _mm256_setzero_si256());
    const __m256i least = _mm256_blendv_epi8(_mm256_max_epi32(exponent, all(kMinF16Exponent)), exponent, isZero);
    significand = _mm256_srlv_epi32(significand, _mm256_sub_epi32(least, exponent));
    exponent = least;
  }
  __m256i largest = exponent;
  for (int k = 0; k < Terms; ++k)
    largest = _mm256_max_epi32(largest, _mm256_add_epi32(all(a.exponent[row][k]), load(b.exponent[k])));
  __m256i sum = _mm256_setzero_si256();
  for (int k = 0; k < Terms; ++k) {
    const __m256i e = _mm256_add_epi32(all(a.exponent[row][k]), load(b.exponent[k]));
    const __m256i product = _mm256_madd_epi16(all(a.significand[row][k]), load(b.significand[k]));
    const __m256i aligned = _mm256_srlv_epi32(product, _mm256_sub_epi32(largest, e));
    const __m256i sign = _mm256_xor_si256(all(a.sign[row][k]), load(b.sign[k]));
    sum = _mm256_add_epi32(sum, _mm256_sub_epi32(_mm256_xor_si256(aligned, sign), sign));
  }
  if constexpr (scale.fractionBits >= 23)
    significand = _mm256_slli_epi32(significand, scale.fractionBits - 23);
  else
    significand = _mm256_srli_epi32(significand, 23 - scale.fractionBits);
  __m256i carried = _mm256_srlv_epi32(significand, _mm256_sub_epi32(largest, exponent));
  const __m256i negative = _mm256_srai_epi32(bits, 31);
  carried = _mm256_sub_epi32(_mm256_xor_si256(carried, negative), negative);
  // 16 products reach almost 2^31: the accumulator is added as a double. 2^(largest - fractionBits) is one, too.
  const __m256i biased = _mm256_add_epi32(largest, all(1023 - scale.fractionBits));
  __m256d tiny = _mm256_setzero_pd();
  const auto half = [&](__m128i products, __m128i accumulator, __m128i power) {
    const __m256d exact = _mm256_add_pd(_mm256_cvtepi32_pd(products), _mm256_cvtepi32_pd(accumulator));
    const __m256d unit = _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_cvtepi32_epi64(power), 52));
    return roundFour<scale.resultBits, Result>(_mm256_mul_pd(exact, unit), tiny);
  };
  const __m128 low = half(_mm256_castsi256_si128(sum), _mm256_castsi256_si128(carried), _mm256_castsi256_si128(biased));
  const __m128 high =
      half(_mm256_extracti128_si256(sum, 1), _mm256_extracti128_si256(carried, 1), _mm256_extracti128_si256(biased, 1));
  if (Result == Accumulator::F32 && _mm256_movemask_pd(tiny)) return false;
  _mm_storeu_ps(sums, low);
  _mm_storeu_ps(sums + 4, high);
  return true;
}

template <TensorFloat Format, int Terms, Accumulator Result>
void addTile(const TensorRows& a, int rows, const TensorColumns& b, float (*sums)[kTileColumns]) {
  for (int row = 0; row < rows; ++row)
    if (a.special[row] || b.special || !addRow<Format, Terms, Result>(a, row, b, sums[row]))
      addSlowly(isNarrow(Format) ? kNarrow : kWide, Result, a, row, b, Terms, sums[row]);
}

template <TensorFloat Format, Accumulator Result>
void addTerms(const TensorRows& a, int rows, const TensorColumns& b, int terms, float (*sums)[kTileColumns]) {
  if (terms == 8) addTile<Format, 8, Result>(a, rows, b, sums);
  if (terms == 16) addTile<Format, 16, Result>(a, rows, b, sums);
  if constexpr (isNarrow(Format)) // 32 products of 22 bits would not fit into 32 bits
    if (terms == 32) addTile<Format, 32, Result>(a, rows, b, sums);
}

/// Calls visit.template operator()<Format>().
template <class Visit> void withFormat(TensorFloat format, Visit&& visit) {
  switch (format) {
  case TensorFloat::F16: return visit.template operator()<TensorFloat::F16>();
  case TensorFloat::BF16: return visit.template operator()<TensorFloat::BF16>();
  case TensorFloat::TF32: return visit.template operator()<TensorFloat::TF32>();
  case TensorFloat::E4M3: return visit.template operator()<TensorFloat::E4M3>();
  case TensorFloat::E5M2: return visit.template operator()<TensorFloat::E5M2>();
  }
}

} // namespace

void unpackRows(TensorFloat format, const TileLine* lines, int rows, int terms, TensorRows& out) {
  withFormat(format, [&]<TensorFloat Format>() { rowsToPlanes<Format>(lines, rows, terms, out); });
}

void unpackColumns(TensorFloat format, const TileLine* lines, int terms, TensorColumns& out) {
  withFormat(format, [&]<TensorFloat Format>() { columnsToPlanes<Format>(lines, terms, out); });
}

void unpackColumns(TensorFloat format, const uint16_t (*elements)[kTileColumns], int terms, TensorColumns& out) {
  if (format == TensorFloat::F16)
    termsToPlanes<TensorFloat::F16>(elements, terms, out);
  else
    termsToPlanes<TensorFloat::BF16>(elements, terms, out);
}

void addProducts(TensorFloat format, Accumulator accumulator, const TensorRows& a, int rows, const TensorColumns& b,
                 int terms, float (*sums)[kTileColumns]) {
  withFormat(format, [&]<TensorFloat Format>() {
    // Once operands are planes, the formats of one scale are the same.
    constexpr TensorFloat kind = isNarrow(Format) ? TensorFloat::E4M3 : TensorFloat::F16;
    if (accumulator == Accumulator::F32)
      addTerms<kind, Accumulator::F32>(a, rows, b, terms, sums);
    else
      addTerms<kind, Accumulator::F16>(a, rows, b, terms, sums);
  });
}

} // namespace tiletwin::sim
