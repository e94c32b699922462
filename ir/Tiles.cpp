// ir/Tiles.cpp -- see Tiles.h.
#include "ir/Tiles.h"
#include "ir/Notes.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tiletwin::tt {

bool isOneNumber(Value tile) {
  DenseElementsAttr elements;
  return tile.getDefiningOp<SplatOp>() || (matchPattern(tile, m_Constant(&elements)) && elements.isSplat());
}

Operation* firstUser(Value tile) {
  Operation* first = nullptr;
  for (Operation* user : usersOf(tile)) {
    Operation* here = tile.getParentBlock()->findAncestorOpInBlock(*user);
    if (!first || here->isBeforeInBlock(first)) first = here;
  }
  return first;
}

} // namespace tiletwin::tt
