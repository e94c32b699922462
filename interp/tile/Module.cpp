// interp/tile/Module.cpp -- the table that a tile module exports, put together from the look-ups of the families.
#include "interp/tile/Library.h"
#include "interp/tile/Tables.h"

namespace tiletwin::tile {
namespace {

bool valid(DType t) { return int(t) >= 0 && int(t) < kNumDTypes; }

TwStripFn findElementwise(TwElementwise op, DType type) {
  if (op >= TwElementwise::Count || !valid(type)) return nullptr;
  if (TwStripFn fn = findMove(op, type)) return fn;
  if (type == DType::Ptr) type = DType::I64;
  if (!isFloat(type)) return findElementwiseInt(op, type);
  return sizeOf(type) == 1 ? findElementwiseF8(op, type) : findElementwiseFloat(op, type);
}

/// Pointers convert as 64-bit integers.
TwStripFn findCast(DType from, DType to, TwCastKind kind) {
  if (!valid(from) || !valid(to)) return nullptr;
  if (from == DType::Ptr) from = DType::I64;
  if (to == DType::Ptr) to = DType::I64;
  if (isFloat(from)) return isFloat(to) ? findCastFloatToFloat(from, to, kind) : findCastFloatToInt(from, to, kind);
  return isFloat(to) ? findCastIntToFloat(from, to, kind) : findCastIntToInt(from, to, kind);
}

TwReduceFn findReduce(TwReduce op, DType type) {
  return isFloat(type) ? findReduceFloat(op, type) : findReduceInt(op, type);
}

constexpr TwTileOps kOps = {
    TILETWIN_TILE_NAME, findElementwise, findElementwiseIeee, findCast,         findReduce,
    findArgReduce,      findDot,         dotScratchBytes,     findGather,       findScatter,
    findStridedCopy,    findIota,        checkAddresses,      streamCopy,       findScaledOperand,
    findScan,           findSort,        findTileGather,      histogram,        findLibrary,
    findJoined,         findSumOf,       findSumOfProducts,   findSumOfSquares,
};

} // namespace
} // namespace tiletwin::tile

extern "C" __attribute__((visibility("default"))) const TwTileOps* tiletwinTileOps(void) {
  return &tiletwin::tile::kOps;
}
extern "C" __attribute__((visibility("default"))) uint64_t tiletwinTileInterface(void) {
  return TILETWIN_TILE_INTERFACE;
}
