// interp/tile/TileOps.h -- the tile operations: views and numbers in, numbers out. No MLIR, no exceptions, no allocation.
//
// One shared module per instruction set exports tiletwinTileOps(), a table of the function pointers below. No Eigen type
// crosses this border. Every function works on contiguous runs ("strips"); walking a tile row by row, broadcasting and
// choosing strips is the plan's job (interp/run).
//
// Operands of strip functions: `src[i]` points at n contiguous elements, or at ONE element if bit i of `splat` is set.
// dst never partially overlaps a source; it may be identical to one (in-place).
// I1 elements are bytes holding 0 or 1. f16, bf16 and f8 elements are their bit patterns; arithmetic on them computes in
// f32 and rounds once to nearest even (f8: saturating as sm_90 does). NaNs: any quiet NaN may come out.
#pragma once
#include "runtime/DType.h"
#include <cstdint>

extern "C" {

/// Elementwise operations by what they compute. The name is the IR operation's. Signless integers: S/U in the name says how.
// clang-format off
#define TILETWIN_ELEMENTWISE_OPS(X)                                                                                     \
  /* binary, T x T -> T */                                                                                              \
  X(AddF) X(SubF) X(MulF) X(DivF) X(RemF) X(MaxNumF) X(MinNumF) X(MaximumF) X(MinimumF)                                   \
  X(AddI) X(SubI) X(MulI) X(DivSI) X(DivUI) X(RemSI) X(RemUI) X(MaxSI) X(MaxUI) X(MinSI) X(MinUI)                          \
  X(AndI) X(OrI) X(XorI) X(ShlI) X(ShrSI) X(ShrUI) X(MulHiUI)                                                             \
  /* unary, T -> T */                                                                                                   \
  X(NegF) X(AbsF) X(AbsI) X(Popcount) X(Exp) X(Exp2) X(Log) X(Log2) X(Sin) X(Cos) X(Sqrt) X(Rsqrt) X(Erf) X(Floor)        \
  X(Ceil)                                                                                                               \
  /* ternary */                                                                                                         \
  X(Fma) X(ClampF) X(ClampFPropagateNan)                                                                                \
  X(Select) /* src[0] is I1, src[1], src[2] and dst are T */                                                             \
  /* comparisons, T x T -> I1 */                                                                                         \
  X(CmpEQ) X(CmpNE) X(CmpSLT) X(CmpSLE) X(CmpSGT) X(CmpSGE) X(CmpULT) X(CmpULE) X(CmpUGT) X(CmpUGE)                       \
  X(CmpFOEQ) X(CmpFOGT) X(CmpFOGE) X(CmpFOLT) X(CmpFOLE) X(CmpFONE) X(CmpFORD)                                            \
  X(CmpFUEQ) X(CmpFUGT) X(CmpFUGE) X(CmpFULT) X(CmpFULE) X(CmpFUNE) X(CmpFUNO)                                            \
  /* probes of floats of 16 bits or more, -> I1: src[0] is NaN or infinite; and is so though src[1] and src[2] are not */ \
  X(NonFinite) X(Born)                                                                                                  \
  /* data movement, T -> T */                                                                                           \
  X(Copy)
// clang-format on

enum class TwElementwise : uint16_t {
#define X(name) name,
  TILETWIN_ELEMENTWISE_OPS(X)
#undef X
      Count
};

/// Bit of `splat`: dst will not be read soon and may bypass the cache (a hint; elements of 2 and 4 bytes heed it). The caller's next
/// locked instruction or fence orders such stores.
enum : uint32_t { kTwStream = 1u << 31 };

/// dst[0..n) = op(src[0], src[1], src[2]). See the head of the file for `splat`.
typedef void (*TwStripFn)(int64_t n, void* dst, const void* const* src, uint32_t splat);

/// Conversions. SignedInt/UnsignedInt say how an integer source (to float or wider) or integer destination (from float) is read.
/// float -> int truncates toward zero and saturates as sm_90 does, at 16, 32 or 64 bits (8-bit results are the low half of the
/// 16-bit one). NaN -> 0, but the sign-bit pattern if either side has 64 bits. anything -> I1 through `!= 0` (NaN is true).
/// TruncateToward0 selects rtz for float narrowing (an infinity stays one where the format has it); otherwise round to nearest even.
enum class TwCastKind : uint8_t { SignedInt, UnsignedInt, TruncateToward0 };

/// Reductions along one axis over a tile seen as [outer][axis][inner], row-major contiguous.
enum class TwReduce : uint8_t {
  AddF,
  MulF,
  MaxNumF,
  MinNumF,
  MaximumF,
  MinimumF,
  AddI,
  MulI,
  MaxSI,
  MaxUI,
  MinSI,
  MinUI,
  AndI,
  OrI,
  XorI,
  ArgMaxF,
  ArgMinF,
  ArgMaxSI,
  ArgMinSI,
  ArgMaxUI,
  ArgMinUI,
  Count
};
/// dst is [outer][inner]. f16/bf16 AddF/MulF: partial results are rounded to T as the IR says (each combine yields a T value), order free.
/// Rows of elements that are neighbours: where the first begins, and bytes from one to the next. Elements from `there` on are
/// not in memory: each is *rest.
struct TwRows {
  const void* first;
  int64_t stride;
  int64_t there = INT64_MAX;
  const void* rest = nullptr;
};
/// A row of the source is one [axis][inner] block (so a memory view can be reduced in place when inner == 1); only such rows
/// may be cut.
typedef void (*TwReduceFn)(int64_t outer, int64_t axis, int64_t inner, void* dst, const TwRows* src);
/// dst[r] = sum of f32 numbers that are computed from row r of a (and of b, else null), each of `axis` elements.
typedef void (*TwSumFn)(int64_t outer, int64_t axis, float* dst, const TwRows* a, const TwRows* b);
/// *dst = sum over a row of (row[i] - minus) squared where lo <= i < hi, and of zeros elsewhere; each part rounds to f32. `ahead`:
/// bytes from the row to what is worth fetching meanwhile, or 0.
struct TwDifferences {
  float minus;
  int64_t lo, hi, ahead;
};
typedef void (*TwSquaresFn)(int64_t axis, float* dst, const TwRows* row, const TwDifferences* differences);
/// Which of two equal elements stays: the one with the lower index (the right one if indices are equal), or the right one.
enum TwArgTie : int32_t { kTwLowestIndex, kTwRight };
/// Value and index together: neighbours (v0, i0), (v1, i1) are combined to the left one if it is better (v0 > v1, v0 < v1) or
/// stays by `tie`, else to the right one; then their winners are, and so on; the last of an odd number goes on as it is.
/// Compares are ordered: a NaN loses on the left and wins on the right. dstIndex, srcIndex: i32; srcIndex may be null: 0..axis-1.
typedef void (*TwArgReduceFn)(int64_t outer, int64_t axis, int64_t inner, void* dstValue, int32_t* dstIndex,
                              const void* src, const int32_t* srcIndex, TwArgTie tie);

/// Inclusive prefixes along the axis, in place or not; reverse: from the end. Kinds AddF .. XorI of TwReduce; dst is [outer][axis][inner],
/// dense, row r of src starts at src + r * rowStride bytes.
typedef void (*TwScanFn)(int64_t outer, int64_t axis, int64_t inner, void* dst, const void* src, int64_t rowStride,
                         bool reverse);

/// One compare-and-swap step of a network over 2^k elements: partners differ in `bit` of their position. See SortOps.cpp.
enum : int8_t { kTwSortAscending = -1, kTwSortDescending = -2 };
struct TwSortStep {
  uint8_t bit;
  int8_t flip; ///< kTwSort..., or the higher bit of the position that turns the direction around
};
/// Runs the steps over n elements, in place. n is a power of two above 1.
typedef void (*TwSortFn)(int64_t n, void* data, const TwSortStep* steps, int64_t count);

/// dst[o][j][i] = src[o][index[o][j][i]][i] for o < outer, j < count, i < inner; index is unsigned, all below length. Returns -1, or the
/// first element whose index is not; dst is then unspecified.
typedef int64_t (*TwTileGatherFn)(int64_t outer, int64_t length, int64_t count, int64_t inner, void* dst,
                                  const void* src, const void* index);
/// dst[b] = number of i with mask[i] (or mask null) and src[i] == b, for 0 <= b < bins. src: signed elements of 4 or 8 bytes.
typedef void (*TwHistogramFn)(int64_t n, int64_t bins, int32_t* dst, const void* src, const uint8_t* mask,
                              int64_t bytes);

/// What the dots of a loop leave in their scratch for the next one. All zero when the loop begins.
struct TwDotState {
  int32_t held;    ///< packed steps of k that are yet to be multiplied
  bool hasA, hasB; ///< the operand is there, packed
  bool begun;      ///< the caller's: not the first round
};
/// Steps of k in f32 after which held products are multiplied.
inline constexpr int64_t kTwHeldDepth = 128;

/// d = a . b + c; all row-major with strides in ELEMENTS between rows (columns are contiguous unless colStride says otherwise).
struct TwDot {
  int64_t m, n, k;
  const void* a;
  int64_t aRow, aCol; ///< element strides of a[m][k]
  const void* b;
  int64_t bRow, bCol; ///< element strides of b[k][n]
  const void* c;
  int64_t cRow; ///< accumulator in (null: zero), acc type, contiguous columns
  void* d;
  int64_t dRow;  ///< result, acc type; may be c itself
  void* scratch; ///< at least dotScratchBytes(m, n, k), 64-byte aligned
  /// Where the next dot may be going to read its operands of the same form, to have them in the cache by then; null: unknown.
  /// Any address will do: it is a hint.
  const void *aNext = nullptr, *bNext = nullptr;
  /// Null, or what stands in scratch, which nothing else writes between the dots of the loop. With `holds` the products may wait
  /// there until there are many: c is d, and both are unspecified until a dot with k = 0 has ended the sum. With `keepsA`
  /// and `keepsB` the operand is the same in each dot.
  TwDotState* state = nullptr;
  bool holds = false, keepsA = false, keepsB = false;
  /// Null, or where b stands packed in place of scratch; `bIsThere`: it is packed already. For sums in f32, n <= 256 and k <= 128. Room
  /// for twPackedBytes(n, k); where products are held, k of all of them, kTwHeldDepth.
  void* bPacked = nullptr;
  bool bIsThere = false;
};
inline int64_t twPackedBytes(int64_t n, int64_t k) { return (n + 31) / 32 * (32 * 4 * k + 128); }
/// How operands are rounded before multiplying. Tf32 drops the low 13 bits of f32 operands (truncation).
/// Tf32x3, Bf16x3 and Bf16x6 are computed in full f32 ("at least as accurate"). Ieee: f64 accumulation, rounded once.
enum class TwDotPrecision : uint8_t { F32, Tf32, Bf16x3, Ieee, Count };
typedef void (*TwDotFn)(const TwDot*);

/// An operand of a scaled dot, brought to one type: value * scale, rounded once to nearest even. Its numbers are addressed as
/// [outer][k]; outer is m of a, n of b. Strides are in bytes.
enum class TwScaledFormat : uint8_t { E2M1, E4M3, E5M2, BF16, F16, Count };
/// Codes of scales. E8M0: 2^(code - 127), 255 is NaN. E8M0Fast: 255 is infinity. E4M3: a number.
enum class TwScaleKind : uint8_t { None, E8M0, E8M0Fast, E4M3 };
struct TwScaledOperand {
  int64_t outer, k;
  const void* x;
  int64_t xOuter, xK; ///< strides between stored elements (E2M1: between bytes)
  const void* scale;
  int64_t scaleOuter, scaleGroup; ///< code of [outer][k / group]
  int64_t group;                  ///< numbers of k that share a scale, even
  TwScaleKind kind;
  bool outerPacked; ///< E2M1: the two numbers of a byte (low bits first) are neighbours in outer, not in k
  bool kInner;      ///< dst is [outer][k], else [k][outer]; dense
  void* dst;
};
typedef void (*TwScaledOperandFn)(const TwScaledOperand*);

/// dst[i] = address[i] loaded if mask[i] (mask null: all), else other[i] (otherStride 0: one element; other null: 0).
typedef void (*TwGatherFn)(int64_t n, void* dst, const uint64_t* address, const uint8_t* mask, const void* other,
                           int64_t otherStride);
typedef void (*TwScatterFn)(int64_t n, const void* src, int64_t srcStride, const uint64_t* address,
                            const uint8_t* mask);

/// dst[i] = start + i*step in the wrap-around arithmetic of an integer type.
typedef void (*TwIotaFn)(int64_t n, void* dst, int64_t start, int64_t step);
/// Strided copies between memory and tiles: n elements, element strides in bytes (0 allowed on the source).
typedef void (*TwStridedCopyFn)(int64_t n, void* dst, int64_t dstStride, const void* src, int64_t srcStride);
/// Index of the first i with mask[i] (or mask null) and (address[i] < lo or address[i] + size > hi), or -1.
typedef int64_t (*TwCheckFn)(int64_t n, const uint64_t* address, const uint8_t* mask, uint64_t lo, uint64_t hi,
                             uint64_t size);

/// What a symbol of libdevice stands for.
struct TwLibraryRow {
  const char* symbol; ///< without its prefix "__nv_"
  TwElementwise op;   ///< the elementwise operation that it is, on elements of `result`; Count: `fn`
  TwStripFn fn;
  int32_t arity;                        ///< at most 4
  tiletwin::DType arguments[4], result; ///< `op`: all of one type
  TwStripFn last; ///< four arguments: fn takes three and gives `between`, last takes that and the fourth
  tiletwin::DType between;
};

struct TwTileOps {
  const char* name; ///< "x86-64-v3"
  /// Null where the combination does not exist (AddF of I32). `type` is the type of the data operands.
  TwStripFn (*elementwise)(TwElementwise op, tiletwin::DType type);
  /// Correctly rounded variant for numerics=ieee; null: elementwise() is already correct.
  TwStripFn (*elementwiseIeee)(TwElementwise op, tiletwin::DType type);
  TwStripFn (*cast)(tiletwin::DType from, tiletwin::DType to, TwCastKind kind);
  TwReduceFn (*reduce)(TwReduce op, tiletwin::DType type);
  TwArgReduceFn (*argReduce)(TwReduce op, tiletwin::DType type);
  /// operand types (f16/f16, f8/f8 mixed, i8/i8, ...), accumulator type.
  TwDotFn (*dot)(tiletwin::DType a, tiletwin::DType b, tiletwin::DType acc, TwDotPrecision precision);
  int64_t (*dotScratchBytes)(int64_t m, int64_t n, int64_t k);
  TwGatherFn (*gather)(int64_t elementBytes);
  TwScatterFn (*scatter)(int64_t elementBytes);
  TwStridedCopyFn (*stridedCopy)(int64_t elementBytes);
  TwIotaFn (*iota)(tiletwin::DType type);
  TwCheckFn checkAddresses;
  /// Plain copy of a contiguous run that bypasses the cache (n bytes; dst 32-byte aligned or not).
  void (*streamCopy)(void* dst, const void* src, int64_t bytes);
  /// Result types: BF16 and F16, as the GPU computes (scales are rounded to that type first), or F64, exact. A BF16 or F16
  /// number is first rounded to a narrower result type.
  TwScaledOperandFn (*scaledOperand)(TwScaledFormat format, tiletwin::DType result);
  TwScanFn (*scan)(TwReduce op, tiletwin::DType type);
  /// Integers compare as signed or unsigned; null for types that have no network of their own.
  TwSortFn (*sort)(tiletwin::DType type, bool isSigned);
  TwTileGatherFn (*tileGather)(int64_t elementBytes, int64_t indexBytes);
  TwHistogramFn histogram;
  /// The libdevice function behind a symbol without its prefix "__nv_"; null: there is none.
  const TwLibraryRow* (*library)(const char* symbol);
  /// One function for both, where operand `operand` of `outer` is what `inner` gives: inner's operands take that operand's place
  /// among outer's. For functions that elementwise(), cast() or joined() gave; null: there is none.
  TwStripFn (*joined)(TwStripFn inner, TwStripFn outer, int operand);
  /// The bits of reduce(AddF, F32) over numbers that cast() has widened to f32 from type `a`; null: not from this type.
  TwSumFn (*sumOf)(tiletwin::DType a);
  /// The same over products in f32 of two numbers, each f32 or widened; null: not of these types.
  TwSumFn (*sumOfProducts)(tiletwin::DType a, tiletwin::DType b);
  /// The same over squares of differences from one f32 number.
  TwSquaresFn (*sumOfSquares)(tiletwin::DType a);
};

/// What a tile module exports. The second tells which declarations of this file it was built with: the build makes the
/// number of their text (TILETWIN_TILE_INTERFACE), and a module with another number is not called.
const TwTileOps* tiletwinTileOps(void);
uint64_t tiletwinTileInterface(void);

} // extern "C"
