// ir/Tiles.cpp -- see Tiles.h.
#include "ir/Tiles.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tiletwin::tt {

bool isOneNumber(Value tile) {
  DenseElementsAttr elements;
  return tile.getDefiningOp<SplatOp>() || (matchPattern(tile, m_Constant(&elements)) && elements.isSplat());
}

} // namespace tiletwin::tt
