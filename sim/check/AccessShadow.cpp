#include "sim/check/AccessShadow.h"

namespace tiletwin::sim {

void ShadowPage::split(unsigned shift) {
  const unsigned parts = cellShift_ - shift;
  std::unique_ptr<ShadowCell[]> finer(new ShadowCell[kBytes >> shift]);
  for (uint64_t i = 0; i < kBytes >> shift; ++i) finer[i] = cells_[i >> parts];
  cells_ = std::move(finer);
  cellShift_ = shift;
}

GlobalShadow::GlobalShadow(const AddressMap& addresses) {
  for (size_t i = 0; i < addresses.size(); ++i) { // by begin
    const uint64_t begin = addresses[i].begin & ~(ShadowPage::kBytes - 1);
    const uint64_t end = (addresses[i].end + ShadowPage::kBytes - 1) & ~(ShadowPage::kBytes - 1);
    if (!ranges_.empty() && begin <= ranges_.back().end) {
      ranges_.back().end = std::max(ranges_.back().end, end);
      continue;
    }
    ranges_.emplace_back();
    ranges_.back().begin = begin;
    ranges_.back().end = end;
  }
  for (Range& range : ranges_)
    range.pages.reset(new std::atomic<ShadowPage*>[(range.end - range.begin) >> ShadowPage::kShift]());
}

GlobalShadow::~GlobalShadow() {
  for (const Range& range : ranges_)
    for (uint64_t i = 0; i < (range.end - range.begin) >> ShadowPage::kShift; ++i) delete range.pages[i].load();
}

ShadowPage* GlobalShadow::pageAt(uint64_t address, uint32_t& recent) {
  if (recent >= ranges_.size() || address < ranges_[recent].begin || address >= ranges_[recent].end) {
    const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                        [](uint64_t at, const Range& range) { return at < range.begin; });
    if (after == ranges_.begin() || address >= std::prev(after)->end) return nullptr;
    recent = uint32_t(std::prev(after) - ranges_.begin());
  }
  const Range& range = ranges_[recent];
  std::atomic<ShadowPage*>& page = range.pages[(address - range.begin) >> ShadowPage::kShift];
  if (ShadowPage* known = page.load(std::memory_order_acquire)) return known;
  auto made = std::make_unique<ShadowPage>();
  ShadowPage* expected = nullptr;
  return page.compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel) ? made.release() : expected;
}

void GlobalShadow::forget(uint64_t address, uint64_t bytes) {
  uint32_t recent = 0;
  for (const uint64_t end = address + bytes; address < end;) {
    const uint64_t offset = address & (ShadowPage::kBytes - 1);
    const uint64_t here = std::min(end - address, ShadowPage::kBytes - offset);
    if (ShadowPage* page = pageAt(address, recent)) {
      page->lock();
      page->forget(offset, here);
      page->unlock();
    }
    address += here;
  }
}

} // namespace tiletwin::sim
