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

Event::Event(Device& device) : device_(device) {
  ContextScope context(device);
  check(Driver::get().cuEventCreate(&handle_, kEventDefault), "cuEventCreate", [&] { return device.text(); });
}

Event::~Event() {
  try {
    ContextScope context(device_);
    Driver::get().cuEventDestroy_v2(handle_);
  } catch (const Error&) {} // the context has ended, and the event with it
}

void Event::record(StreamHandle stream) {
  ContextScope context(device_);
  check(Driver::get().cuEventRecord(handle_, stream), "cuEventRecord", [&] { return device_.text(); });
}

void Event::synchronize() {
  ContextScope context(device_);
  check(Driver::get().cuEventSynchronize(handle_), "cuEventSynchronize", [&] { return device_.text(); });
}

float Event::since(Event& start) {
  start.synchronize();
  synchronize();
  ContextScope context(device_);
  float milliseconds = 0;
  check(Driver::get().cuEventElapsedTime(&milliseconds, start.handle_, handle_), "cuEventElapsedTime",
        [&] { return device_.text(); });
  return milliseconds;
}

} // namespace tiletwin::cuda
