// interp/tile/ElementwiseI16.cpp -- the integer operations (ElementwiseInt.h) on i16.
#include "interp/tile/ElementwiseInt.h"
#include "interp/tile/Tables.h"

namespace tiletwin::tile {
TwStripFn findElementwiseI16(TwElementwise op) { return findIntStrip<DType::I16>(op); }
} // namespace tiletwin::tile
