// interp/tile/ElementwiseBF16.cpp -- the float operations (ElementwiseFloat.h) on bf16.
#include "interp/tile/ElementwiseFloat.h"
#include "interp/tile/Tables.h"

namespace tiletwin::tile {
TwStripFn findElementwiseBF16(TwElementwise op) { return findFloatStrip<DType::BF16>(op); }
} // namespace tiletwin::tile
