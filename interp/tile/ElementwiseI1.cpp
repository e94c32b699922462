// interp/tile/ElementwiseI1.cpp -- the integer operations (ElementwiseInt.h) on i1.
#include "interp/tile/ElementwiseInt.h"
#include "interp/tile/Tables.h"

namespace tiletwin::tile {
TwStripFn findElementwiseI1(TwElementwise op) { return findIntStrip<DType::I1>(op); }
} // namespace tiletwin::tile
