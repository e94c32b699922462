// interp/check/ShadowPool.h -- memory for shadow maps that launches use one after the other without clearing it.
// Here:      taking and giving back, the number of the launch that has it.
// Invariant: fresh memory is zero; a piece of memory has a higher epoch each time it is taken, at least 1.
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace tiletwin::interp {

class ShadowPool {
public:
  struct Memory {
    void* address = nullptr;
    size_t bytes = 0;
    uint32_t epoch = 0;
  };
  /// At least so many bytes, not yet backed by pages where nothing was written. Throws std::bad_alloc.
  Memory take(size_t bytes);
  void give(Memory memory);

private:
  std::mutex mutex_;
  std::vector<Memory> free_; // under mutex_
  size_t kept_ = 0;          // bytes in free_; under mutex_
};

} // namespace tiletwin::interp
