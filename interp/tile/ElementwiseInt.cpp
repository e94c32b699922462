// interp/tile/ElementwiseInt.cpp -- the integer operations (ElementwiseInt.h) on every integer type.
#include "interp/tile/ElementwiseInt.h"
#include "interp/tile/Tables.h"
#include "interp/tile/TypeLists.h"

namespace tiletwin::tile {

TwStripFn findElementwiseInt(TwElementwise op, DType type) {
  return forType(Ints(), type, [&]<DType T>() { return findIntStrip<T>(op); });
}

} // namespace tiletwin::tile
