// python/cuda/PreparedLaunch.h -- the Python type tiletwin._cuda.Prepared: a kernel with its block, cluster, shared memory and the
// types of its arguments, ready to be launched many times.
// Here:      conversion of Python values by the signature, the launch, LaunchApi for tiletwin._C.
// Invariant: a launch allocates nothing on the heap, imports nothing, and calls Python only to ask tensors for their addresses.
#pragma once
#include "LaunchApi.h"
#include "runtime/cuda/Kernel.h"
#include <memory>

namespace tiletwin::python {

/// Adds the type, and the capsule launch_api, to the module. False with an error set on failure.
bool addPrepared(PyObject* module);
/// signature: a tuple of words: "*fp32" or any other pointer, "i32", "u8", "i1", "fp16", "bf16", "fp32", "fp64",
/// "bytes:128" for a structure such as a tensor map. Null with an error set: an unknown word, sizes that are not the
/// kernel's, or limits of the GPU.
PyRef makePrepared(std::shared_ptr<const cuda::Kernel> kernel, const cuda::LaunchShape& shape, PyObject* signature);
/// Has the driver write a tensor map, 128 bytes aligned to 64. Throws cuda::Error; `refused` begins what is said of numbers
/// that it does not take.
void encodeTensorMap(cuda::Device& device, const TensorMapNumbers& numbers, const std::string& refused, void* map);

} // namespace tiletwin::python
