// sim/isa/DeviceHeap.h -- memory for kernels that call malloc: a heap of the process, and one of each context that the driver has.
#pragma once
#include "sim/machine/AddressMap.h"
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace tiletwin::sim {

/// Thread-safe. Allocations live until they are freed, from launch to launch.
class DeviceHeap {
public:
  static constexpr size_t kBytes = size_t(8) << 20; ///< of a GPU unless told otherwise
  /// The process's own, of launches that name no other.
  static DeviceHeap& instance();
  /// std::bad_alloc: the machine has no room for it.
  explicit DeviceHeap(size_t bytes);

  /// The whole heap: what a launch may touch if its kernels call malloc.
  MemoryRange range() const;
  /// Null if there is no room.
  std::byte* allocate(uint64_t bytes);
  /// False if nothing was allocated there.
  bool release(std::byte* at);

private:
  const size_t size_;
  std::unique_ptr<std::byte[]> bytes_;
  std::mutex mutex_;
  std::map<size_t, size_t> free_, used_; ///< offset and bytes; under mutex_
};

} // namespace tiletwin::sim
