#include "sim/isa/DeviceHeap.h"
#include <iterator>

namespace tiletwin::sim {

namespace {
constexpr size_t kAlignment = 16;
} // namespace

DeviceHeap::DeviceHeap(size_t bytes) : size_(bytes), bytes_(new std::byte[bytes]) { free_[0] = bytes; }

DeviceHeap& DeviceHeap::instance() {
  static DeviceHeap heap(kBytes);
  return heap;
}

MemoryRange DeviceHeap::range() const {
  const auto begin = reinterpret_cast<uint64_t>(bytes_.get());
  return {begin, begin + size_, false, "the device heap"};
}

std::byte* DeviceHeap::allocate(uint64_t bytes) {
  if (bytes == 0 || bytes > size_) return nullptr;
  const size_t size = (size_t(bytes) + kAlignment - 1) / kAlignment * kAlignment;
  const std::lock_guard lock(mutex_);
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const auto [offset, room] = *it;
    if (room < size) continue;
    free_.erase(it);
    if (room > size) free_[offset + size] = room - size;
    used_[offset] = size;
    return bytes_.get() + offset;
  }
  return nullptr;
}

bool DeviceHeap::release(std::byte* at) {
  const std::lock_guard lock(mutex_);
  const auto it = used_.find(size_t(at - bytes_.get()));
  if (it == used_.end()) return false;
  const auto freed = free_.insert(*it).first;
  used_.erase(it);
  if (const auto next = std::next(freed); next != free_.end() && freed->first + freed->second == next->first) {
    freed->second += next->second;
    free_.erase(next);
  }
  if (freed == free_.begin()) return true;
  const auto before = std::prev(freed);
  if (before->first + before->second == freed->first) {
    before->second += freed->second;
    free_.erase(freed);
  }
  return true;
}

} // namespace tiletwin::sim
