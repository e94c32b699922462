// sim/driver/Pools.h -- memory pools: what a pool knows of itself.
// Not here:  memory that comes from one (PoolCalls.cpp), pools that several processes use (PoolIpcCalls.cpp).
#pragma once
#include "sim/driver/Call.h"
#include "sim/driver/DeviceMemory.h"
#include "sim/driver/Handles.h"
#include <array>
#include <atomic>

namespace tiletwin::driver {

class VirtualDevice;

class Pool {
public:
  static constexpr unsigned kHandleKind = 11;
  static std::shared_ptr<Pool> make(VirtualDevice& device, MemoryKind kind = MemoryKind::Pool);

  VirtualDevice* device = nullptr;    ///< of a pool in the host's memory the first one, which counts it
  MemoryKind kind = MemoryKind::Pool; ///< what its memory is: also Managed, and Host
  PoolHandle handle = nullptr;
  uint64_t number = 0;   ///< never given twice by the process that made it
  uint64_t largest = 0;  ///< 0: as the device
  bool isShared = false; ///< other processes may have its memory
  int32_t process = 0;   ///< who made the pool that this one stands for; 0: it is a pool itself
  std::atomic<uint64_t> used{0}, highest{0}, threshold{0};
  std::array<std::atomic<int>, 3> reuse{1, 1, 1};
  /// Counts memory that comes from it.
  void take(uint64_t bytes);
};

/// Gives back memory of a pool, of a device, or of another process's pool. kInvalidValue: none of these begins there.
Result giveBack(DevicePointer address);

template <class Body> Result onPool(PoolHandle handle, const Body& body) noexcept {
  return inDriver([&] {
    const std::shared_ptr<Pool> pool = find<Pool>(handle);
    return pool ? body(*pool) : cuda::kInvalidValue;
  });
}

} // namespace tiletwin::driver
