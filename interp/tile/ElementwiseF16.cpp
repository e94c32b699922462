// interp/tile/ElementwiseF16.cpp -- the float operations (ElementwiseFloat.h) on f16.
#include "interp/tile/ElementwiseFloat.h"
#include "interp/tile/Tables.h"

namespace tiletwin::tile {
TwStripFn findElementwiseF16(TwElementwise op) { return findFloatStrip<DType::F16>(op); }
} // namespace tiletwin::tile
