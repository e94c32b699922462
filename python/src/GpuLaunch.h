// python/src/GpuLaunch.h -- a compiled kernel on torch's current GPU and stream.
// Here:      which GPU and stream, the kernel prepared for a GPU, the arguments as the driver takes them.
// Not here:  compilation and loading (tiletwin/launch/gpu_launch.py), the launch itself (python/cuda/LaunchApi.h).
#pragma once
#include "Binding.h"
#include "CopiedLoads.h"
#include "TensorMapArguments.h"
#include "frontend/PyRef.h"
#include "runtime/DType.h"
#include <array>
#include <memory>
#include <vector>

namespace tiletwin::python {

struct LoadedKernel;
/// Null: not loaded on this GPU yet. What is loaded stays as and where it is: launches on other threads use it.
using GpuKernel = std::unique_ptr<const LoadedKernel>;

/// A kernel as one GPU has it. Used under the GIL only.
struct LoadedKernel {
  PyRef prepared;                      ///< tiletwin._cuda.Prepared
  std::vector<DType> types;            ///< of its own arguments; of tensor maps: a pointer
  std::vector<TensorMapArgument> maps; ///< by index
  CopiedLoads copied;                  ///< what stands behind its own arguments
  bool isForAll = false;               ///< the same code runs small and large grids
  uint32_t ctas = 0;                   ///< that the GPU runs at one time, of a kernel whose CTAs loop over programs
  uint32_t programCtas = 1;            ///< that run a program together
};

/// A kernel on one GPU, in the forms that launches there have wanted.
struct GpuForms {
  GpuKernel looping; ///< for more programs than multiprocessors; its CTAs may run one after the other
  GpuKernel single;  ///< for others; its CTAs run one
};

/// What Python prepared: a tiletwin._cuda.Prepared, the tuple of its types; the others are LoadedKernel's. Null with an
/// exception set.
GpuKernel readLoaded(PyObject* prepared, PyObject* words, uint32_t ctas, uint32_t programCtas, bool isForAll);

/// Where launches on a GPU run now.
struct GpuPlace {
  int device = -1;    ///< number of torch's current GPU; -1: the launch runs on the CPU
  int capability = 0; ///< what kernels are compiled for there, as the active driver says
};
/// False with an exception set.
bool readGpuPlace(GpuPlace& out);

/// Launches a kernel that was compiled for a GPU (compiler.CompiledKernel) on it. `loaded`: by number of the GPU. False
/// with an exception set.
bool launchOnGpu(const std::string& name, PyObject* kernel, std::vector<GpuForms>& loaded, const Call& call,
                 const std::array<int32_t, 3>& grid, int device);

/// Launches a loaded kernel on a stream of its GPU. False with an exception set.
bool launchLoaded(const std::string& name, const LoadedKernel& ready, const Call& call,
                  const std::array<uint32_t, 3>& grid, uintptr_t stream);

} // namespace tiletwin::python
