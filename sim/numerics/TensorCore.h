// sim/numerics/TensorCore.h -- what a tensor core of sm_90 makes of a dot product, bit for bit.
//
// Here:      operands made ready (TensorRows, TensorColumns), sums of products for floats, integers, bits and doubles.
// Not here:  which lane holds which element (isa/MatrixFragment.h), which instruction does what (isa/Mma.cpp, Wmma.cpp, Wgmma.cpp).
// Idea:      a tile is 16 rows of A times 8 columns of B; an operand's significands, exponents and signs lie in planes of 32-bit
//            integers, so that eight outputs are computed at a time and every step is an integer operation.
// The model: `terms` products and the accumulator are added at once. With E the largest exponent among them, each is truncated
//            toward zero to a multiple of 2^(E - fractionBits); the sum of these is exact and is rounded once: toward zero to 23
//            (fp8: 13) fraction bits, or to the nearest f16. A product's exponent is the sum of its operands' exponents; a
//            subnormal has the exponent of the smallest normal, and zero products have none. An accumulator of 0 has the
//            exponent of f32's subnormals.
// Specials:  NaN in, inf * 0 or inf - inf give 0x7FFFFFFF (f16: 0x7FFF); what is too large gives infinity; a sum of 0 is +0.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tiletwin::sim {

/// Formats of the operands of floating-point products.
enum class TensorFloat : uint8_t { F16, BF16, TF32, E4M3, E5M2 };
/// Bits of an element as it lies in registers and memory.
constexpr int bitsOf(TensorFloat format) {
  return format == TensorFloat::TF32 ? 32 : format == TensorFloat::F16 || format == TensorFloat::BF16 ? 16 : 8;
}

inline constexpr int kTileRows = 16, kTileColumns = 8;
/// Bytes along k that one instruction takes of a row of A or a column of B.
inline constexpr int kTileBytes = 32;
inline constexpr int kMaxTerms = 32;

/// A row of A or a column of B: elements along k, the first one lowest.
using TileLine = std::byte[kTileBytes];

/// Up to 16 rows of A, made ready.
struct TensorRows {
  alignas(32) int32_t significand[kTileRows][kMaxTerms];
  alignas(32) int32_t exponent[kTileRows][kMaxTerms];
  alignas(32) int32_t sign[kTileRows][kMaxTerms]; ///< 0 or -1
  bool special[kTileRows];                        ///< holds an infinity or a NaN
};

/// 8 columns of B, made ready.
struct TensorColumns {
  alignas(32) int32_t significand[kMaxTerms][kTileColumns];
  alignas(32) int32_t exponent[kMaxTerms][kTileColumns];
  alignas(32) int32_t sign[kMaxTerms][kTileColumns];
  bool special;
};

/// `terms`: elements along k, a multiple of 8.
void unpackRows(TensorFloat format, const TileLine* lines, int rows, int terms, TensorRows& out);
void unpackColumns(TensorFloat format, const TileLine* lines, int terms, TensorColumns& out);
/// The same from elements[k][column]; formats of 16 bits.
void unpackColumns(TensorFloat format, const uint16_t (*elements)[kTileColumns], int terms, TensorColumns& out);

enum class Accumulator : uint8_t {
  F32,
  F16, ///< kept as the float that an f16 is
};

/// sums[row][column] += the products of `terms` elements, taken at once; terms is 8, 16 or 32. Formats of 8 bits: as wgmma does
/// it, with 13 fraction bits; only they take 32 terms.
void addProducts(TensorFloat format, Accumulator accumulator, const TensorRows& a, int rows, const TensorColumns& b,
                 int terms, float (*sums)[kTileColumns]);

/// fp8 as f16: of each four elements along k the first two go to `first`, the others to `second`.
void widenFp8(TensorFloat format, const TileLine* lines, int count, TileLine* first, TileLine* second);

struct IntegerFormat {
  int bits = 8; ///< 4 or 8
  bool isSigned = true;
};
/// sums[row][column] += dot products over `words` words of 32 bits along k. The exact sum is wrapped, or clamped if `saturate`.
void addIntegerProducts(IntegerFormat a, IntegerFormat b, bool saturate, const TileLine* rows, int rowCount,
                        const TileLine* columns, int words, int32_t (*sums)[kTileColumns]);

/// The same for bits: the number of ones in a ^ b or a & b.
enum class BitOperation : uint8_t { Xor, And };
void addBitProducts(BitOperation operation, const TileLine* rows, int rowCount, const TileLine* columns, int words,
                    int32_t (*sums)[kTileColumns]);

enum class DoubleRounding : uint8_t { Nearest, Zero, Down, Up };
/// sums[row][column] = a chain of fused multiply-adds, k ascending. a[row][k], b[column][k].
void addDoubleProducts(DoubleRounding rounding, const double (*a)[16], int rowCount, const double (*b)[16], int terms,
                       double (*sums)[kTileColumns]);

} // namespace tiletwin::sim
