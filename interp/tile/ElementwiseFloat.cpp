// interp/tile/ElementwiseFloat.cpp -- the float operations (ElementwiseFloat.h) on the types of 16 bits or more.
#include "interp/tile/ElementwiseFloat.h"
#include "interp/tile/Tables.h"
#include "interp/tile/TypeLists.h"

namespace tiletwin::tile {

TwStripFn findElementwiseFloat(TwElementwise op, DType type) {
  using Types = TypeList<DType::F16, DType::BF16, DType::F32, DType::F64>;
  return forType(Types(), type, [&]<DType T>() { return findFloatStrip<T>(op); });
}

} // namespace tiletwin::tile
