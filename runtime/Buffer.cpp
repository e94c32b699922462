// runtime/Buffer.cpp -- the process-wide registry. buffers_ is sorted by begin; overlapping entries (a view registered
// inside a registered storage) are allowed, so a look-up walks back to every entry that begins at or before the
// address.
#include "runtime/Buffer.h"
#include <algorithm>

namespace tiletwin {

namespace {
bool beginsBefore(const Buffer& buffer, uintptr_t address) { return buffer.begin < address; }

/// Bytes between the buffer and the address; 0 if the address is inside.
uintptr_t distance(const Buffer& buffer, uintptr_t address) {
  if (address < buffer.begin) return buffer.begin - address;
  if (address >= buffer.end) return address - buffer.end + 1;
  return 0;
}
} // namespace

BufferRegistry& BufferRegistry::instance() {
  static BufferRegistry* registry = new BufferRegistry; // never destroyed: threads may outlive static destructors
  return *registry;
}

void BufferRegistry::add(Buffer buffer) {
  if (buffer.end < buffer.begin) buffer.end = buffer.begin;
  if (buffer.viewBegin == 0 && buffer.viewEnd == 0) {
    buffer.viewBegin = buffer.begin;
    buffer.viewEnd = buffer.end;
  }
  std::lock_guard lock(mutex_);
  auto at = std::lower_bound(buffers_.begin(), buffers_.end(), buffer.begin, beginsBefore);
  if (at != buffers_.end() && at->begin == buffer.begin) // the same allocation again: the newest description holds
    *at = std::move(buffer);
  else
    buffers_.insert(at, std::move(buffer));
}

void BufferRegistry::remove(uintptr_t begin) {
  std::lock_guard lock(mutex_);
  auto at = std::lower_bound(buffers_.begin(), buffers_.end(), begin, beginsBefore);
  if (at != buffers_.end() && at->begin == begin) buffers_.erase(at);
}

std::optional<Buffer> BufferRegistry::find(uintptr_t address) const {
  std::lock_guard lock(mutex_);
  auto at = std::upper_bound(buffers_.begin(), buffers_.end(), address,
                             [](uintptr_t a, const Buffer& buffer) { return a < buffer.begin; });
  while (at != buffers_.begin())
    if ((--at)->end > address) return *at;
  return std::nullopt;
}

std::optional<Buffer> BufferRegistry::nearest(uintptr_t address) const {
  std::lock_guard lock(mutex_);
  auto best = std::min_element(buffers_.begin(), buffers_.end(), [&](const Buffer& a, const Buffer& b) {
    return distance(a, address) < distance(b, address);
  });
  if (best == buffers_.end()) return std::nullopt;
  return *best;
}

} // namespace tiletwin
