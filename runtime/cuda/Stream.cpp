// runtime/cuda/Stream.cpp -- see Stream.h.
#include "runtime/cuda/Stream.h"
#include "runtime/cuda/Error.h"

namespace tiletwin::cuda {

void synchronize(Device& device, StreamHandle stream) {
  ContextScope context(device);
  check(Driver::get().cuStreamSynchronize(stream), "cuStreamSynchronize", [&] { return device.text(); });
}

void synchronize(Device& device) {
  ContextScope context(device);
  check(Driver::get().cuCtxSynchronize(), "cuCtxSynchronize", [&] { return device.text(); });
}

bool isCapturing(Device& device, StreamHandle stream) {
  ContextScope context(device);
  int status = kCaptureStatusNone;
  check(Driver::get().cuStreamIsCapturing(stream, &status), "cuStreamIsCapturing", [&] { return device.text(); });
  return status != kCaptureStatusNone;
}

Stream::Stream(Device& device) : device_(device) {
  ContextScope context(device);
  check(Driver::get().cuStreamCreate(&handle_, kStreamNonBlocking), "cuStreamCreate", [&] { return device.text(); });
}

Stream::~Stream() {
  try {
    ContextScope context(device_);
    Driver::get().cuStreamDestroy_v2(handle_);
  } catch (const Error&) {} // the context has ended, and the stream with it
}

} // namespace tiletwin::cuda
