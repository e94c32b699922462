// interp/tile/ElementwiseF32.cpp -- the float operations (ElementwiseFloat.h) on f32.
#include "interp/tile/ElementwiseFloat.h"
#include "interp/tile/Tables.h"

namespace tiletwin::tile {
TwStripFn findElementwiseF32(TwElementwise op) { return findFloatStrip<DType::F32>(op); }
} // namespace tiletwin::tile
