// runtime/cuda/CudaBackend.h -- an NVIDIA GPU as a backend: kernels on host buffers, copied in and out.
// Here:      loading of PTX and cubins, the buffers of one launch on the GPU, faults as traps.
// Not here:  launches on memory that lies on the GPU (Kernel.h), cubins made by ptxas (Python does that).
// Invariant: a pointer argument with a buffer points at the same place in the copy of that buffer, with the same alignment up
//            to 256 bytes; buffers that overlap on the host overlap on the GPU. Addresses inside of buffers are not translated.
// A kernel that faults is a trap, and loses the GPU for this process: every later run() throws. What print statements of kernels
// write goes to the process's standard output, not to Outcome::printed.
#pragma once
#include "runtime/Backend.h"
#include "runtime/cuda/Kernel.h"

namespace tiletwin::cuda {

class CudaBackend : public Backend {
public:
  explicit CudaBackend(int device = 0, JitOptions options = {}) : device_(device), options_(options) {}
  std::string_view name() const override { return "cuda"; }
  /// `bytes`: PTX text or a cubin. Kernels whose parameters are structures are refused: a Launch has numbers and pointers.
  /// Argument types are as PTX declares them, of cubins integers of the parameters' sizes.
  std::shared_ptr<const LoadedKernel> load(std::span<const std::byte> bytes, std::string_view entry,
                                           std::string& error) override;
  Outcome run(const LoadedKernel& kernel, const Launch& launch) override;

private:
  int device_;
  JitOptions options_;
};

} // namespace tiletwin::cuda
