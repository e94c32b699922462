// python/cuda/PreparedLaunch.h -- the Python type tiletwin._cuda.Prepared: a kernel with its block, shared memory and the
// sizes of its arguments, ready to be launched many times by LaunchApi.
// Here:      what a launch is checked for once, LaunchApi for tiletwin._C.
// Not here:  conversion of arguments (python/src/GpuLaunch.h), launches of tiletwin.cuda.Kernel (KernelObject.h).
// Invariant: a launch allocates nothing on the heap and calls no Python.
#pragma once
#include "LaunchApi.h"
#include "runtime/cuda/Kernel.h"
#include <memory>

namespace tiletwin::python {

/// Adds the type, and the capsule launch_api, to the module. False with an error set on failure.
bool addPrepared(PyObject* module);
/// arguments: a tuple with the storage type of each ("ptr", "i32"), or a tuple that describes a tensor map, or an i32 if
/// it has one part. Null with an
/// error set: an unknown type, sizes that are not the kernel's, or limits of the GPU.
PyRef makePrepared(std::shared_ptr<const cuda::Kernel> kernel, const cuda::LaunchShape& shape, PyObject* arguments);
/// Has the driver write a tensor map, 128 bytes aligned to 64. Throws cuda::Error; `refused` begins what is said of numbers
/// that it does not take.
void encodeTensorMap(cuda::Device& device, const TensorMapNumbers& numbers, const std::string& refused, void* map);

} // namespace tiletwin::python
