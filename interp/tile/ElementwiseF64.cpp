// interp/tile/ElementwiseF64.cpp -- the float operations (ElementwiseFloat.h) on f64.
#include "interp/tile/ElementwiseFloat.h"
#include "interp/tile/Tables.h"

namespace tiletwin::tile {
TwStripFn findElementwiseF64(TwElementwise op) { return findFloatStrip<DType::F64>(op); }
} // namespace tiletwin::tile
