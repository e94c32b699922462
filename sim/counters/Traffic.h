// sim/counters/Traffic.h -- which global memory a launch touches: by all of its CTAs together, and by each for itself.
// Not here:  what caches make of it (python/tiletwin/counters/estimate.py).
// Idea:      a map from pages to bits, one for each sector. A page is looked for once for neighbouring accesses.
#pragma once
#include "sim/counters/MemoryCost.h"
#include <array>
#include <unordered_map>
#include <vector>

namespace tiletwin::sim {

inline constexpr uint32_t kPageBytes = 4096;

/// Sectors of 32 bytes.
struct TrafficSums {
  uint64_t ofCtas[2]{};   ///< read and written, each cluster's different ones, added up
  uint64_t distinct[2]{}; ///< the launch's different ones
};

/// Of clusters that run one after the other.
class Traffic {
public:
  /// Bytes from `address` on are read or written. Returns how many of their sectors the cluster has not touched yet.
  uint32_t touch(uint64_t address, uint64_t bytes, bool writes);
  /// A cluster has ended.
  void end();
  /// Adds what another one has seen.
  void add(const Traffic& other);
  /// calls visit(address, sums) for each page.
  template <class Visit> void eachPage(Visit&& visit) const {
    for (const auto& [number, page] : pages_) visit(number * kPageBytes, page.sums());
  }

private:
  using Bits = std::array<uint64_t, kPageBytes / kSectorBytes / 64>;
  struct Page {
    std::array<Bits, 2> now{}, ever{}; ///< by the cluster that runs; by any; read, written
    uint64_t ofCtas[2]{};
    bool isListed = false; ///< in touched_
    TrafficSums sums() const;
  };
  Page& pageOf(uint64_t number);

  std::unordered_map<uint64_t, Page> pages_;
  std::vector<Page*> touched_; ///< by the cluster that runs
  uint64_t lastNumber_ = ~uint64_t(0);
  Page* last_ = nullptr;
};

} // namespace tiletwin::sim
