// interp/tile/Tables.h -- the look-ups each source file contributes to the module's table (Module.cpp). Null: no such
// operation.
#pragma once
#include "interp/tile/TileOps.h"

namespace tiletwin::tile {

TwStripFn findElementwiseFloat(TwElementwise op, DType type); ///< of 16 bits or more
TwStripFn findElementwiseF8(TwElementwise op, DType type);
TwStripFn findElementwiseInt(TwElementwise op, DType type);
/// Copy and Select, which look only at the size of an element.
TwStripFn findMove(TwElementwise op, DType type);
TwStripFn findElementwiseIeee(TwElementwise op, DType type);
TwStripFn findJoined(TwStripFn inner, TwStripFn outer, int operand);

TwStripFn findCastFloatToFloat(DType from, DType to, TwCastKind kind);
TwStripFn findCastIntToFloat(DType from, DType to, TwCastKind kind);
TwStripFn findCastFloatToInt(DType from, DType to, TwCastKind kind);
TwStripFn findCastIntToInt(DType from, DType to, TwCastKind kind);

TwReduceFn findReduceFloat(TwReduce op, DType type);
TwReduceFn findReduceInt(TwReduce op, DType type);
TwSumFn findSumOf(DType a);
TwSumFn findSumOfProducts(DType a, DType b);
TwSquaresFn findSumOfSquares(DType a);
TwArgReduceFn findArgReduce(TwReduce op, DType type);
TwScanFn findScan(TwReduce op, DType type);
TwSortFn findSort(DType type, bool isSigned);
TwTileGatherFn findTileGather(int64_t elementBytes, int64_t indexBytes);
void histogram(int64_t n, int64_t bins, int32_t* dst, const void* src, const uint8_t* mask, int64_t bytes);

TwDotFn findDot(DType a, DType b, DType acc, TwDotPrecision precision);
int64_t dotScratchBytes(int64_t m, int64_t n, int64_t k);
TwScaledOperandFn findScaledOperand(TwScaledFormat format, DType result);

TwGatherFn findGather(int64_t elementBytes);
TwScatterFn findScatter(int64_t elementBytes);
TwStridedCopyFn findStridedCopy(int64_t elementBytes);
TwIotaFn findIota(DType type);
int64_t checkAddresses(int64_t n, const uint64_t* address, const uint8_t* mask, uint64_t lo, uint64_t hi,
                       uint64_t size);
void streamCopy(void* dst, const void* src, int64_t bytes);

} // namespace tiletwin::tile
