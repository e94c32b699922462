// runtime/cuda/Stream.h -- streams: order of work on a GPU, and waiting for it.
// Streams are numbers outside of this folder: what torch calls cuda_stream.
#pragma once
#include "runtime/cuda/Device.h"
#include <cstdint>

namespace tiletwin::cuda {

inline StreamHandle streamOf(uintptr_t number) { return reinterpret_cast<StreamHandle>(number); }

/// Waits for the stream. What its kernels did wrong is thrown as an Error (Fault) that names the kernels launched last.
void synchronize(Device& device, StreamHandle stream);
/// Waits for everything on the device.
void synchronize(Device& device);
/// True while the stream is being captured into a graph.
bool isCapturing(Device& device, StreamHandle stream);

/// A stream of its own, which does not wait for the default stream.
class Stream {
public:
  explicit Stream(Device& device);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  StreamHandle handle() const { return handle_; }

private:
  Device& device_;
  StreamHandle handle_ = nullptr;
};

} // namespace tiletwin::cuda
