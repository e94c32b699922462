// runtime/cuda/Device.h -- the GPUs of this machine, and their primary contexts, which torch and CUDA's runtime use too.
// Here:      facts and limits of a GPU; which one is current; making a GPU current for a while.
// Not here:  torch's current device (tiletwin/cuda/devices.py asks torch).
// Invariant: a primary context is retained once and never released: memory and modules of others may be in it until the end.
#pragma once
#include "runtime/cuda/Driver.h"
#include <atomic>
#include <string>

namespace tiletwin::cuda {

/// One GPU; lives as long as the process. Thread-safe.
class Device {
public:
  /// Throws Error (NoDevice) that says how many there are.
  static Device& get(int ordinal);
  static int count();
  /// The one whose context is current in this thread, or -1.
  static int current();

  int ordinal() const { return ordinal_; }
  const std::string& name() const { return name_; }
  /// 10 * major + minor: 90.
  int capability() const { return capability_; }
  size_t memoryBytes() const { return memoryBytes_; }
  /// The bytes that a block may have, with the opt-in that launches here use.
  int maxSharedPerBlock() const { return maxSharedPerBlock_; }
  int attribute(DeviceAttribute attribute) const;
  /// "device 0 (NVIDIA H200, sm_90)".
  std::string text() const;
  /// Its primary context, retained on first use.
  ContextHandle context();

private:
  explicit Device(int ordinal);
  int ordinal_;
  DeviceHandle handle_ = 0;
  std::string name_;
  int capability_ = 0, maxSharedPerBlock_ = 0;
  size_t memoryBytes_ = 0;
  std::atomic<ContextHandle> context_{nullptr};
};

/// While it lives, the device's primary context is current in this thread; afterwards what was before.
class ContextScope {
public:
  explicit ContextScope(Device& device);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

private:
  bool pushed_ = false;
};

/// While it lives, this thread may allocate memory and load code although a stream is being captured into a graph: neither
/// is work on that stream. Without it the driver ends the capture with an error.
class CaptureIsUnaffected {
public:
  CaptureIsUnaffected();
  ~CaptureIsUnaffected();
  CaptureIsUnaffected(const CaptureIsUnaffected&) = delete;
  CaptureIsUnaffected& operator=(const CaptureIsUnaffected&) = delete;

private:
  int before_ = kCaptureModeRelaxed;
};

} // namespace tiletwin::cuda
