// interp/tile/ElementwiseI32.cpp -- the integer operations (ElementwiseInt.h) on i32.
#include "interp/tile/ElementwiseInt.h"
#include "interp/tile/Tables.h"

namespace tiletwin::tile {
TwStripFn findElementwiseI32(TwElementwise op) { return findIntStrip<DType::I32>(op); }
} // namespace tiletwin::tile
