// python/sim/TensorMaps.h -- sim/Tensormap.h for tiletwin/sim/tensor_maps.py.
#pragma once
#include "frontend/PyRef.h"

namespace tiletwin::python {

/// encode_tensor_map(type, address, sizes, strides, box, element_strides, interleave, swizzle, promotion, fill) -> 128 bytes.
/// The numbers are the driver's, dimension 0 first; ValueError says why the driver would refuse them.
PyObject* encodeTensorMap(PyObject*, PyObject* args);

} // namespace tiletwin::python
