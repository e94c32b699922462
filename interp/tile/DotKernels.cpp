// interp/tile/DotKernels.cpp -- the blocked drivers and micro kernels of float dots, compiled once.
#include "interp/tile/Dot.h"

namespace tiletwin::tile {
template void dotBlocked<KernelF32>(const TwDot&, const Operands&);
template void dotBlocked<KernelF64>(const TwDot&, const Operands&);
} // namespace tiletwin::tile
