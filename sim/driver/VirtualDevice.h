// sim/driver/VirtualDevice.h -- a device as the driver shows it: name, attributes, how much memory is taken.
// Not here:  its contexts (Context.h), addresses (DeviceMemory.h).
// Source:    attributes as cuDeviceGetAttribute gives them for an H200 and an A100, and the tables of compute capabilities in
//            the "CUDA C++ Programming Guide", NVIDIA.
#pragma once
#include "sim/driver/Types.h"
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tiletwin::driver {

class Context;

/// Limits that the driver itself asks for.
struct Limits {
  int major, minor, multiprocessors, sharedPerBlock, sharedOptin, sharedPerMultiprocessor, sharedReserved;
  int threadsPerMultiprocessor, blocksPerMultiprocessor, registersPerMultiprocessor;
};

/// Lives as long as the process. Thread-safe.
class VirtualDevice {
public:
  /// The device of an ordinal, or null. The first call makes all of them, as Settings say.
  static VirtualDevice* find(int ordinal);
  static int count();

  int ordinal() const { return ordinal_; }
  const char* name() const;
  const Limits& limits() const;
  uint64_t memoryBytes() const;
  Uuid uuid() const;
  /// "0000:01:00.0"
  std::string busId() const;
  /// False: there is no attribute of that number.
  bool attribute(int number, int& value) const;
  /// "sm_90a": the newest target that this device runs.
  const char* arch() const;

  /// Takes `bytes` of the device's memory. False: there are not so many left.
  bool takeMemory(uint64_t bytes);
  void giveMemory(uint64_t bytes) { taken_ -= bytes; }
  uint64_t takenMemory() const { return taken_; }

  /// The primary context. It is the same object for ever; what it holds goes with the last release, or a reset.
  const std::shared_ptr<Context>& primary() const { return primary_; }

private:
  explicit VirtualDevice(int ordinal);
  int ordinal_;
  std::atomic<uint64_t> taken_{0};
  std::shared_ptr<Context> primary_;
};

} // namespace tiletwin::driver
