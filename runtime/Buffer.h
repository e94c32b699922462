// runtime/Buffer.h -- memory a kernel may touch: extents of a launch's arguments and of registered allocations.
// Here:      a list of [begin, end) ranges with names, looked up by address.
// Not here:  allocation; checks of single accesses (interp/run).
#pragma once
#include "runtime/ViewShape.h"
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tiletwin {

struct Buffer {
  std::string name;        ///< parameter name, or the name given to tiletwin.register
  uintptr_t begin = 0;     ///< first byte of the storage
  uintptr_t end = 0;       ///< one past the last byte of the storage
  uintptr_t viewBegin = 0; ///< lowest byte the argument's view (shape and strides) can touch
  uintptr_t viewEnd = 0;   ///< one past the highest
  bool readOnly = false;
  std::shared_ptr<const ViewShape> view = nullptr; ///< which bytes are elements; null unless a check wants to know
  bool contains(uintptr_t lo, uintptr_t hi) const { return lo >= begin && hi <= end; }
};

/// Process-wide registry of allocations that are not arguments of the launch at hand. Thread-safe: every member locks
/// mutex_.
class BufferRegistry {
public:
  static BufferRegistry& instance();
  void add(Buffer buffer);
  void remove(uintptr_t begin);
  /// The buffer whose storage holds `address`, if any.
  std::optional<Buffer> find(uintptr_t address) const;
  /// The buffer nearest to `address`; used in messages only.
  std::optional<Buffer> nearest(uintptr_t address) const;

private:
  mutable std::mutex mutex_;
  std::vector<Buffer> buffers_; // sorted by begin, under mutex_
};

} // namespace tiletwin
