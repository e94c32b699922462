#include "sim/check/Clock.h"

namespace tiletwin::sim {

void LaneTimes::join(const LaneTimes& other) {
  const LaneTimes mine = *this;
  all = std::max(mine.all, other.all);
  some = 0;
  lanes = 0;
  for (const LaneTimes* each : {&mine, &other}) {
    if (each->some <= all) continue;
    some = std::max(some, each->some);
    lanes |= each->lanes;
  }
}

namespace {
bool isBefore(const Clock::Entry& entry, uint32_t warp) { return entry.warp < warp; }
} // namespace

LaneTimes Clock::of(uint32_t warp) const {
  if (coversAll_) return {UINT32_MAX, 0, 0};
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), warp, isBefore);
  return at != entries_.end() && at->warp == warp ? at->times : LaneTimes();
}

bool Clock::covers(const Clock& other) const {
  if (coversAll_) return true;
  if (other.coversAll_ || other.entries_.size() > entries_.size()) return false;
  auto at = entries_.begin();
  for (const Entry& entry : other.entries_) {
    while (at != entries_.end() && at->warp < entry.warp) ++at;
    if (at == entries_.end() || at->warp != entry.warp || !at->times.covers(entry.times)) return false;
  }
  return true;
}

void Clock::join(const Clock& other) {
  if (coversAll_) return;
  if (other.coversAll_) {
    coversAll_ = true;
    entries_.clear();
    return;
  }
  std::vector<Entry> all;
  all.reserve(entries_.size() + other.entries_.size());
  auto a = entries_.begin();
  auto b = other.entries_.begin();
  while (a != entries_.end() || b != other.entries_.end()) {
    const bool takesA = b == other.entries_.end() || (a != entries_.end() && a->warp <= b->warp);
    const bool takesB = a == entries_.end() || (b != other.entries_.end() && b->warp <= a->warp);
    all.push_back(takesA ? *a : *b);
    if (takesA && takesB) all.back().times.join(b->times);
    if (takesA) ++a;
    if (takesB) ++b;
  }
  entries_ = std::move(all);
  limit();
}

void Clock::join(uint32_t warp, const LaneTimes& times) {
  if (coversAll_) return;
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), warp, isBefore);
  if (at != entries_.end() && at->warp == warp) {
    at->times.join(times);
    return;
  }
  entries_.insert(at, {warp, times});
  limit();
}

void Clock::limit() {
  if (entries_.size() <= kMostEntries) return;
  coversAll_ = true;
  entries_ = {};
}

ClockRef joined(const ClockRef& a, const ClockRef& b) {
  if (!b || a == b) return a;
  if (!a || b->covers(*a)) return b;
  if (a->covers(*b)) return a;
  auto both = std::make_shared<Clock>(*a);
  both->join(*b);
  return both;
}

} // namespace tiletwin::sim
