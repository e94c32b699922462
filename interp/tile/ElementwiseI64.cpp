// interp/tile/ElementwiseI64.cpp -- the integer operations (ElementwiseInt.h) on i64.
#include "interp/tile/ElementwiseInt.h"
#include "interp/tile/Tables.h"

namespace tiletwin::tile {
TwStripFn findElementwiseI64(TwElementwise op) { return findIntStrip<DType::I64>(op); }
} // namespace tiletwin::tile
