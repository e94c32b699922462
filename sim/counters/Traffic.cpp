#include "sim/counters/Traffic.h"
#include <bit>

namespace tiletwin::sim {

Traffic::Page& Traffic::pageOf(uint64_t number) {
  if (number == lastNumber_) return *last_;
  Page& page = pages_[number];
  if (!page.isListed) {
    page.isListed = true;
    touched_.push_back(&page);
  }
  lastNumber_ = number;
  last_ = &page;
  return page;
}

uint32_t Traffic::touch(uint64_t address, uint64_t bytes, bool writes) {
  uint32_t added = 0;
  for (uint64_t sector = address / kSectorBytes, last = (address + bytes - 1) / kSectorBytes; sector <= last;
       ++sector) {
    constexpr uint64_t kSectors = kPageBytes / kSectorBytes;
    uint64_t& word = pageOf(sector / kSectors).now[writes][sector % kSectors / 64];
    const uint64_t bit = uint64_t(1) << sector % 64;
    added += !(word & bit);
    word |= bit;
  }
  return added;
}

void Traffic::end() {
  for (Page* page : touched_) {
    for (size_t kind = 0; kind < 2; ++kind)
      for (size_t i = 0; i < page->now[kind].size(); ++i) {
        page->ofCtas[kind] += uint64_t(std::popcount(page->now[kind][i]));
        page->ever[kind][i] |= page->now[kind][i];
        page->now[kind][i] = 0;
      }
    page->isListed = false;
  }
  touched_.clear();
  lastNumber_ = ~uint64_t(0);
}

void Traffic::add(const Traffic& other) {
  for (const auto& [number, from] : other.pages_) {
    Page& page = pages_[number];
    for (size_t kind = 0; kind < 2; ++kind) {
      page.ofCtas[kind] += from.ofCtas[kind];
      for (size_t i = 0; i < page.ever[kind].size(); ++i) page.ever[kind][i] |= from.ever[kind][i];
    }
  }
}

TrafficSums Traffic::Page::sums() const {
  TrafficSums sums;
  for (size_t kind = 0; kind < 2; ++kind) {
    sums.ofCtas[kind] = ofCtas[kind];
    for (const uint64_t word : ever[kind]) sums.distinct[kind] += uint64_t(std::popcount(word));
  }
  return sums;
}

} // namespace tiletwin::sim
