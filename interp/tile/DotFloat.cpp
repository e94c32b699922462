// interp/tile/DotFloat.cpp -- dots of f32, f64, f16 and bf16 operands, the choice among all dots, and their scratch.
#include "interp/tile/DotFloat.h"

namespace tiletwin::tile {
namespace {

TwDotFn findDotF32(DType acc, TwDotPrecision precision) {
  if (acc != DType::F32) return nullptr;
  switch (precision) {
  case TwDotPrecision::Tf32: return dotFloat<DType::F32, DType::F32, DType::F32, float, true>;
  case TwDotPrecision::F32:
  case TwDotPrecision::Bf16x3: return dotFloat<DType::F32, DType::F32, DType::F32, float>;
  case TwDotPrecision::Ieee: return dotFloat<DType::F32, DType::F32, DType::F32, double>;
  case TwDotPrecision::Count: break;
  }
  return nullptr;
}

} // namespace

TwDotFn findDot(DType a, DType b, DType acc, TwDotPrecision precision) {
  const bool ieee = precision == TwDotPrecision::Ieee;
  if (sizeOf(a) == 1 && isFloat(a)) return findDotF8(a, b, acc, ieee);
  if (a != b) return nullptr;
  switch (a) {
  case DType::F32: return findDotF32(acc, precision);
  case DType::F64:
    if (acc == DType::F32) return ieee ? dotFloat<DType::F64, DType::F64, DType::F32, double> : nullptr; // scaled dots
    return acc == DType::F64 ? dotFloat<DType::F64, DType::F64, DType::F64, double> : nullptr;
  case DType::F16: return findNarrowDot<DType::F16, DType::F16>(acc, ieee);
  case DType::BF16: return findNarrowDot<DType::BF16, DType::BF16>(acc, ieee);
  case DType::I8: return findDotI8(acc);
  default: return nullptr;
  }
}

int64_t dotScratchBytes(int64_t m, int64_t n, int64_t k) {
  const int64_t rows = m < kBlockRows ? m : kBlockRows,
                columns = ((n < kBlockColumns ? n : kBlockColumns) + 31) / 32 * 32;
  const int64_t narrow = rows * columns * 4, wide = (rows < kBlockRows / 2 ? rows : kBlockRows / 2) * columns * 8;
  return packedScratch(rows, columns) + (narrow > wide ? narrow : wide) + 64;
}

} // namespace tiletwin::tile
