// sim/machine/AddressMap.h -- global memory that a launch may touch: its buffers and the module's variables, by address.
// Not here:  the check of an access (Memory.cpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tiletwin::sim {

struct MemoryRange {
  uint64_t begin = 0, end = 0;
  bool readOnly = false;
  std::string_view name; ///< of a buffer or a variable, which lives longer than the launch
  bool contains(uint64_t low, uint64_t high) const { return low >= begin && high <= end; }
};

class AddressMap {
public:
  void reserve(size_t count) { ranges_.reserve(count); }
  void add(MemoryRange range) { ranges_.push_back(range); }
  /// After the last add().
  void sort();
  size_t size() const { return ranges_.size(); }
  const MemoryRange& operator[](size_t index) const { return ranges_[index]; }
  /// Index of a range that holds all bytes of [low, high), or -1.
  int find(uint64_t low, uint64_t high) const;
  /// The range nearest to an address, for messages; null if there is none.
  const MemoryRange* nearest(uint64_t address) const;

private:
  std::vector<MemoryRange> ranges_; ///< by begin
  std::vector<uint64_t> highest_;   ///< the largest end of the ranges up to this one
};

} // namespace tiletwin::sim
