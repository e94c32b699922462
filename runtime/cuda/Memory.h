// runtime/cuda/Memory.h -- memory of a GPU: allocation, copies, what an address is.
// Not here:  which memory a launch needs (CudaBackend.h, tiletwin/cuda/launch_memory.py).
// Invariant: copies run on the stream they are given, in order with its kernels; only synchronize() waits.
#pragma once
#include "runtime/cuda/Device.h"
#include <cstddef>

namespace tiletwin::cuda {

/// An allocation, freed with the object. Its address is a multiple of 256.
class DeviceMemory {
public:
  /// At least one byte. Throws Error (Memory) that names the bytes. Legal while a stream is captured.
  DeviceMemory(Device& device, size_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  DevicePointer address() const { return address_; }

private:
  Device& device_;
  DevicePointer address_ = 0;
};

/// Host memory must stay as it is until the stream has come to the copy. Throws Error.
void copyToDevice(Device& device, DevicePointer to, const void* from, size_t bytes, StreamHandle stream);
void copyToHost(Device& device, void* to, DevicePointer from, size_t bytes, StreamHandle stream);

/// What the driver knows of an address. device: whose context is asked; every context knows all addresses of the process.
struct PointerFacts {
  enum class Kind : uint8_t { Unknown, Host, Device, Managed } kind = Kind::Unknown; ///< Unknown: ordinary host memory
  int device = -1;
  DevicePointer begin = 0; ///< of the allocation
  size_t bytes = 0;
};
PointerFacts pointerFacts(Device& device, DevicePointer address);

} // namespace tiletwin::cuda
