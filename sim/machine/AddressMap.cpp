#include "sim/machine/AddressMap.h"
#include <algorithm>

namespace tiletwin::sim {

void AddressMap::sort() {
  const auto before = [](const MemoryRange& a, const MemoryRange& b) { return a.begin < b.begin; };
  // Buffers come in order, thousands of them from a driver, and a module's few variables behind them.
  const auto others = std::is_sorted_until(ranges_.begin(), ranges_.end(), before);
  std::sort(others, ranges_.end(), before);
  std::inplace_merge(ranges_.begin(), others, ranges_.end(), before);
  highest_.clear();
  highest_.reserve(ranges_.size());
  uint64_t highest = 0;
  for (const MemoryRange& range : ranges_) highest_.push_back(highest = std::max(highest, range.end));
}

int AddressMap::find(uint64_t low, uint64_t high) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), low,
                                      [](uint64_t at, const MemoryRange& range) { return at < range.begin; });
  // Ranges may overlap: an earlier one may reach further.
  for (int i = int(after - ranges_.begin()) - 1; i >= 0 && highest_[size_t(i)] >= high; --i)
    if (ranges_[size_t(i)].contains(low, high)) return i;
  return -1;
}

const MemoryRange* AddressMap::nearest(uint64_t address) const {
  const MemoryRange* best = nullptr;
  uint64_t distance = ~uint64_t(0);
  for (const MemoryRange& range : ranges_) {
    const uint64_t d = address < range.begin ? range.begin - address : address >= range.end ? address - range.end : 0;
    if (d < distance) {
      distance = d;
      best = &range;
    }
  }
  return best;
}

} // namespace tiletwin::sim
