// sim/driver/ManagedAdvice.h -- what clients have said of managed memory: advice and prefetches, which change no result and can be asked for.
// Not here:  the driver's functions (MemoryCalls.cpp, ManagedCalls.cpp).
#pragma once
#include "sim/driver/DeviceMemory.h"
#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace tiletwin::driver {

struct Advice {
  bool isReadMostly = false;
  Location preferred{}, prefetched{}; ///< type 0: none
  uint32_t accessedBy = 0;            ///< a bit for each device, the highest one for the host
  static constexpr uint32_t kHostBit = uint32_t(1) << 31;
};

/// Thread-safe.
class ManagedAdvice {
public:
  static ManagedAdvice& instance();
  /// Changes the advice of a range of an allocation.
  void change(const Allocation& memory, uint64_t begin, uint64_t bytes, const std::function<void(Advice&)>& change);
  /// The advice of each part of a range, at least one.
  std::vector<Advice> of(const Allocation& memory, uint64_t begin, uint64_t bytes) const;

private:
  using Parts = std::map<uint64_t, Advice>; ///< by address, each up to the next one
  void forgetOthers();
  mutable std::mutex mutex_;
  std::map<uint64_t, Parts> parts_; // by Allocation::number, under mutex_
};

} // namespace tiletwin::driver
