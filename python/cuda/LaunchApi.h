// python/cuda/LaunchApi.h -- how launches of JIT functions (python/src/GpuLaunch.h, in tiletwin._C) start a kernel on a GPU.
// Here:      the table of functions that tiletwin._cuda hands over in the capsule "tiletwin._cuda.launch_api".
// Not here:  binding, keys and the conversion of arguments: `_C` has done that, for the interpreter and for the GPU alike.
//
// The path of `kernel[grid](...)` with tensors on a GPU, which must cost no more than a few microseconds:
//   1. bindArguments, classify: values to Leafs and the key of the specialisation        (Binding.h, as for the CPU)
//   2. entryFor: the key, and the GPU's number, to an Entry; the first time Python compiles, takes the cubin to
//      _cuda.load(...).kernel(name), prepares it for (block, shared) and leaves the Prepared object in the Entry
//   3. argumentBits: each Leaf to the 64 bits of its argument, as for the interpreter
//   4. LaunchApi::launch(prepared, grid, stream, bits, count): the driver is given the addresses of these cells. Numbers are
//      little-endian, so a parameter of n bytes is the first n bytes of its cell: nothing is packed or copied.
// The stream is torch's current one (torch._C._cuda_getCurrentRawStream, 0.1 us), 0 without torch. Step 4 is one call of
// cuCtxGetCurrent, one of cuLaunchKernel, and a note for later errors; no allocation, nothing that waits, so all of it may
// happen while a stream is captured into a graph.
// Why a capsule: `_C` is loaded by everybody and links nothing that knows of CUDA; one copy of the driver's state is in `_cuda`.
#pragma once
#include "../src/TensorMapNumbers.h"
#include "frontend/PyRef.h"
#include <cstddef>
#include <cstdint>

namespace tiletwin::python {

inline constexpr const char* kLaunchApiCapsule = "tiletwin._cuda.launch_api";

struct LaunchApi {
  size_t bytes; ///< sizeof(LaunchApi): the caller's and the callee's must be equal
  /// Number of arguments of a Prepared object, or -1 with TypeError set if it is none.
  Py_ssize_t (*argumentCount)(PyObject* prepared);
  /// Launches on grid[3]. `bits`: one cell per argument, its value in the low bytes; of a tensor map its address.
  /// Needs the GIL, gives it up while the driver works. False with an exception set.
  bool (*launch)(PyObject* prepared, const uint32_t* grid, uintptr_t stream, uint64_t* bits, size_t count);
  /// 1: the kernel's GPU can reach the byte at an address; 0: it cannot; -1 with an exception set. One question to the
  /// driver: what it said before of an address says nothing of what lies there now.
  int (*reaches)(PyObject* prepared, uint64_t address);
  /// Writes a tensor map, 128 bytes aligned to 64. False with an exception set: what the driver refuses.
  bool (*encodeTensorMap)(PyObject* prepared, const TensorMapNumbers& numbers, void* map);
};

} // namespace tiletwin::python
