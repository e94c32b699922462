// interp/check/ShadowPool.cpp -- see ShadowPool.h.
#include "interp/check/ShadowPool.h"
#include <bit>
#include <new>
#include <sys/mman.h>

namespace tiletwin::interp {

namespace {
constexpr size_t kSmallest = size_t(64) << 10;
constexpr size_t kMostKept = size_t(1) << 30;            ///< address space of free memory; larger pieces are never kept
constexpr uint32_t kLastEpoch = (uint32_t(1) << 28) - 1; ///< what a block's state has room for
} // namespace

ShadowPool::Memory ShadowPool::take(size_t bytes) {
  bytes = std::bit_ceil(bytes < kSmallest ? kSmallest : bytes);
  {
    std::lock_guard lock(mutex_);
    for (Memory& free : free_) {
      if (free.bytes != bytes) continue;
      Memory memory = free;
      free = free_.back();
      free_.pop_back();
      kept_ -= bytes;
      ++memory.epoch;
      return memory;
    }
  }
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  return {address, bytes, 1};
}

void ShadowPool::give(Memory memory) {
  if (memory.epoch < kLastEpoch) {
    std::lock_guard lock(mutex_);
    if (kept_ + memory.bytes <= kMostKept) {
      free_.push_back(memory);
      kept_ += memory.bytes;
      return;
    }
  }
  munmap(memory.address, memory.bytes);
}

} // namespace tiletwin::interp
