// python/sim/TensorMaps.h -- sim/Tensormap.h for tiletwin/sim/tensor_maps.py.
#pragma once
#include "frontend/PyFunctions.h"

namespace tiletwin::python {

/// The 128 bytes of a tensor map. The numbers are the driver's, dimension 0 first; ValueError says why the driver would
/// refuse them.
PyRef encodeTensorMap(uint8_t type, uint64_t address, TupleArgument sizes, TupleArgument strides, TupleArgument box,
                      TupleArgument elementStrides, uint8_t interleave, uint8_t swizzle, uint8_t promotion,
                      uint8_t fill);

} // namespace tiletwin::python
