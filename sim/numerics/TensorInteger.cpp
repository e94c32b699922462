// sim/numerics/TensorInteger.cpp -- tensor-core products of integers, bits and doubles, and fp8 widened to f16.
// Not here:  floats that are aligned and truncated (TensorCore.cpp).
#include "runtime/FloatFormats.h"
#include "sim/numerics/Double.h"
#include "sim/numerics/TensorCore.h"
#include <algorithm>
#include <array>
#include <cstring>
#include <immintrin.h>
#include <limits>

namespace tiletwin::sim {
namespace {

constexpr int kWords = kTileBytes / 4;
/// Pairs of 16-bit integers that a word of 8- or 4-bit elements becomes.
constexpr int kMaxPairs = 4;

/// Element pairs (j, j + half) of each word, widened to 16 bits: j = 0 ... 16 / bits - 1.
void widenWords(IntegerFormat format, __m256i word, __m256i* pairs) {
  const __m128i drop = _mm_cvtsi32_si128(16 - format.bits);
  for (int j = 0; j < 16 / format.bits; ++j) {
    const __m256i top = _mm256_sll_epi16(word, _mm_cvtsi32_si128(16 - format.bits * (j + 1)));
    pairs[j] = format.isSigned ? _mm256_sra_epi16(top, drop) : _mm256_srl_epi16(top, drop);
  }
}

/// Word w of each of eight lines.
__m256i wordOf(const TileLine* lines, int w) {
  int32_t words[kTileColumns];
  for (int i = 0; i < kTileColumns; ++i) std::memcpy(&words[i], lines[i] + 4 * w, 4);
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words));
}

/// a + b, clamped; |b| is far from the limits.
__m256i addClamped(__m256i a, __m256i b) {
  const __m256i sum = _mm256_add_epi32(a, b);
  // Overflow: the operands agree in sign, and the sum does not.
  const __m256i overflow = _mm256_srai_epi32(_mm256_andnot_si256(_mm256_xor_si256(a, b), _mm256_xor_si256(a, sum)), 31);
  const __m256i limit =
      _mm256_xor_si256(_mm256_srai_epi32(a, 31), _mm256_set1_epi32(std::numeric_limits<int32_t>::max()));
  return _mm256_blendv_epi8(sum, limit, overflow);
}

template <int Terms> void chain(const double* a, const double (*b)[16], double* sums) {
  for (int k = 0; k < Terms; ++k)
    for (int n = 0; n < kTileColumns; ++n) sums[n] = __builtin_fma(a[k], b[n][k], sums[n]);
}

/// One output, with the right NaN.
template <Round R> double chainOne(const double* a, const double* b, int terms, double sum) {
  for (int k = 0; k < terms; ++k) sum = binary64::kFma(RoundConstant<R>(), a[k], b[k], sum);
  return sum;
}
/// By DoubleRounding.
constexpr std::array kChains = {chainOne<Round::NearestEven>, chainOne<Round::TowardZero>, chainOne<Round::Down>,
                                chainOne<Round::Up>};

void chainNearest(const double* a, const double (*b)[16], int terms, double* sums) {
  double before[kTileColumns];
  std::copy_n(sums, kTileColumns, before);
  if (terms == 4)
    chain<4>(a, b, sums);
  else if (terms == 8)
    chain<8>(a, b, sums);
  else
    chain<16>(a, b, sums);
  for (int n = 0; n < kTileColumns; ++n)
    if (sums[n] != sums[n]) sums[n] = chainOne<Round::NearestEven>(a, b[n], terms, before[n]);
}

std::array<uint16_t, 256> f16OfFp8(const SmallFloat& format) {
  std::array<uint16_t, 256> codes{};
  for (uint32_t code = 0; code < 256; ++code) {
    const bool isNan = isNanCode(format, code);
    codes[code] = isNan ? 0x7FFF : uint16_t(encodeSmallFloat(kF16, decodeSmallFloat(format, code)));
  }
  return codes;
}

} // namespace

void widenFp8(TensorFloat format, const TileLine* lines, int count, TileLine* first, TileLine* second) {
  static const std::array<uint16_t, 256> e4m3 = f16OfFp8(kF8E4M3FN), e5m2 = f16OfFp8(kF8E5M2);
  const auto& codes = format == TensorFloat::E4M3 ? e4m3 : e5m2;
  for (int i = 0; i < count; ++i)
    for (int q = 0; q < kTileBytes / 4; ++q) {
      const auto code = [&](int j) { return codes[uint8_t(lines[i][4 * q + j])]; };
      const uint16_t pairs[4] = {code(0), code(1), code(2), code(3)};
      std::memcpy(first[i] + 4 * q, pairs, 4);
      std::memcpy(second[i] + 4 * q, pairs + 2, 4);
    }
}

void addIntegerProducts(IntegerFormat a, IntegerFormat b, bool saturate, const TileLine* rows, int rowCount,
                        const TileLine* columns, int words, int32_t (*sums)[kTileColumns]) {
  const int pairCount = 16 / a.bits;
  __m256i right[kWords][kMaxPairs];
  for (int w = 0; w < words; ++w) widenWords(b, wordOf(columns, w), right[w]);
  for (int row = 0; row < rowCount; ++row) {
    __m256i sum = _mm256_setzero_si256();
    for (int w = 0; w < words; ++w) {
      int32_t word;
      std::memcpy(&word, rows[row] + 4 * w, 4);
      __m256i left[kMaxPairs];
      widenWords(a, _mm256_set1_epi32(word), left);
      for (int j = 0; j < pairCount; ++j) sum = _mm256_add_epi32(sum, _mm256_madd_epi16(left[j], right[w][j]));
    }
    auto* out = reinterpret_cast<__m256i*>(sums[row]);
    const __m256i before = _mm256_loadu_si256(out);
    _mm256_storeu_si256(out, saturate ? addClamped(before, sum) : _mm256_add_epi32(before, sum));
  }
}

void addBitProducts(BitOperation operation, const TileLine* rows, int rowCount, const TileLine* columns, int words,
                    int32_t (*sums)[kTileColumns]) {
  for (int row = 0; row < rowCount; ++row)
    for (int n = 0; n < kTileColumns; ++n)
      for (int w = 0; w < words; w += 2) {
        uint64_t x, y;
        std::memcpy(&x, rows[row] + 4 * w, 8);
        std::memcpy(&y, columns[n] + 4 * w, 8);
        const int ones = __builtin_popcountll(operation == BitOperation::Xor ? x ^ y : x & y);
        sums[row][n] = int32_t(uint32_t(sums[row][n]) + uint32_t(ones));
      }
}

void addDoubleProducts(DoubleRounding rounding, const double (*a)[16], int rowCount, const double (*b)[16], int terms,
                       double (*sums)[kTileColumns]) {
  for (int row = 0; row < rowCount; ++row) {
    if (rounding == DoubleRounding::Nearest)
      chainNearest(a[row], b, terms, sums[row]);
    else
      for (int n = 0; n < kTileColumns; ++n)
        sums[row][n] = kChains[size_t(rounding)](a[row], b[n], terms, sums[row][n]);
  }
}

} // namespace tiletwin::sim
