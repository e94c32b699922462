// interp/tile/ElementwiseI8.cpp -- the integer operations (ElementwiseInt.h) on i8.
#include "interp/tile/ElementwiseInt.h"
#include "interp/tile/Tables.h"

namespace tiletwin::tile {
TwStripFn findElementwiseI8(TwElementwise op) { return findIntStrip<DType::I8>(op); }
} // namespace tiletwin::tile
