// python/src/TensorMapArguments.h -- tensor descriptors of a launch as tensor maps, which a kernel copies blocks with (TMA).
// Here:      what a compiled kernel says of a map, its numbers from a bound descriptor.
// Not here:  the 128 bytes, which the driver makes (python/cuda/LaunchApi.h); launches on the simulator
//            (tiletwin/launch/tensor_map_arguments.py, which makes the same numbers).
#pragma once
#include "../cuda/LaunchApi.h"
#include "Binding.h"
#include <array>
#include <cstddef>
#include <string>

namespace tiletwin::python {

/// The 128 bytes of a map, at an address that the driver takes.
struct alignas(64) TensorMapBytes {
  std::array<std::byte, 128> bytes;
};

/// An argument of a compiled kernel that is a map.
struct TensorMapArgument {
  size_t index = 0; ///< of the descriptor among the launch's leaves; extents and strides follow
  int elementType = 0, swizzle = 0;
  uint32_t rank = 0;
  std::array<uint32_t, 5> box{}; ///< dimension 0, which is contiguous, first
};

/// Reads (element type, box, swizzle), as MapArgument.native of tiletwin.launch.tensor_map_arguments gives it. False with
/// an exception set.
bool readTensorMap(PyObject* numbers, TensorMapArgument& out);

/// The map for one launch. False with an exception set: a tensor that no map describes.
bool encodeTensorMap(const LaunchApi& api, PyObject* prepared, const std::string& kernel, const TensorMapArgument& map,
                     const Call& call, TensorMapBytes& out);

} // namespace tiletwin::python
