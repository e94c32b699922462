// interp/check/RaceOrder.cpp -- see RaceOrder.h.
#include "interp/check/RaceOrder.h"
#include <cstring>

namespace tiletwin::interp {

namespace {
constexpr uint64_t kJoin = ~uint64_t(0); ///< "program" of a segment in which nobody runs: it joins two releases
constexpr int kShortWay = 64;            ///< segments looked at before everything that lies before one is gathered
constexpr size_t kLongList = 64;

auto unsettled = [](const auto&) { return false; };
} // namespace

RaceOrder::RaceOrder() : segments_(1), lists_(1), seen_(1) {}

uint32_t RaceOrder::newSegment(uint64_t program, uint32_t before, uint32_t other) {
  Segment& segment = segments_.emplace_back();
  segment.program = program;
  segment.before[0] = before;
  segment.before[1] = other;
  seen_.push_back(0);
  return uint32_t(segments_.size() - 1);
}

uint32_t& RaceOrder::current(uint64_t program) {
  uint32_t& segment = current_[program];
  if (!segment) segment = newSegment(program, 0);
  return segment;
}

// ---- what lies before what ----

bool RaceOrder::isBefore(uint32_t earlier, uint32_t later) {
  const uint64_t program = segments_[earlier].program;
  if (program == segments_[later].program) return true;
  if (earlier > later) return false;
  if (reachedFrom_ == later) {
    auto at = reached_.find(program);
    return at != reached_.end() && at->second >= earlier;
  }
  return search(earlier, later);
}

bool RaceOrder::search(uint32_t earlier, uint32_t later) {
  const uint64_t program = segments_[earlier].program;
  std::vector<uint32_t> work{later};
  auto visit = [&](uint32_t lowest, auto&& enter) {
    const Segment segment = segments_[work.back()];
    work.pop_back();
    auto follow = [&](uint32_t before) {
      if (before < lowest || before == 0 || seen_[before] == mark_) return;
      seen_[before] = mark_;
      enter(before);
      work.push_back(before);
    };
    follow(segment.before[0]);
    follow(segment.before[1]);
    if (segment.more)
      for (uint32_t before : more_[segment.more - 1]) follow(before);
  };
  // A short way, through segments that are not older than the one looked for.
  ++mark_;
  bool found = false;
  for (int steps = 0; !work.empty() && !found && steps < kShortWay; ++steps)
    visit(earlier, [&](uint32_t before) { found |= segments_[before].program == program; });
  if (found || work.empty()) return found;
  // Everything before `later`, for this question and the next ones.
  ++mark_;
  work.assign(1, later);
  reached_.clear();
  reachedFrom_ = later;
  while (!work.empty())
    visit(1, [&](uint32_t before) {
      uint32_t& last = reached_[segments_[before].program];
      last = std::max(last, before);
    });
  auto at = reached_.find(program);
  return at != reached_.end() && at->second >= earlier;
}

// ---- accesses ----

void RaceOrder::note(uint32_t& list, uint32_t segment, uint32_t site) {
  if (!list) {
    list = uint32_t(lists_.size());
    lists_.emplace_back();
  }
  std::vector<Access>& all = lists_[list];
  const uint64_t program = segments_[segment].program;
  if (!all.empty() && segments_[all.back().segment].program == program) {
    all.back() = {segment, site};
    return;
  }
  all.push_back({segment, site});
  if (all.size() < kLongList || (all.size() & (all.size() - 1))) return;
  // One entry, the last, for each program.
  std::unordered_map<uint64_t, size_t> last;
  for (size_t i = 0; i < all.size(); ++i) last[segments_[all[i].segment].program] = i;
  std::vector<Access> kept;
  for (size_t i = 0; i < all.size(); ++i)
    if (last[segments_[all[i].segment].program] == i) kept.push_back(all[i]);
  all = std::move(kept);
}

uint32_t RaceOrder::copyOf(uint32_t list) {
  if (!list || lists_[list].empty()) return 0;
  lists_.push_back(std::vector<Access>(lists_[list]));
  return uint32_t(lists_.size() - 1);
}

RaceOrder::Cell RaceOrder::split(const Cell& cell) {
  Cell copy = cell;
  if (copy.hash) copy.hash = 1;
  copy.reads = copyOf(cell.reads);
  copy.atomicReads = copyOf(cell.atomicReads);
  copy.atomicWrites = copyOf(cell.atomicWrites);
  return copy;
}

void RaceOrder::report(const Access& earlier, RaceKind earlierKind, RaceStamp by, RaceKind kind, bool sameValue,
                       uintptr_t begin, uintptr_t end) {
  RacePair pair;
  pair.first = RaceStamp::of(segments_[earlier.segment].program, earlier.site);
  pair.second = by;
  pair.firstKind = earlierKind;
  pair.secondKind = kind;
  // As RacePair has it: if one of them only reads it is the second; else the lower program is the first.
  auto isRead = [](RaceKind k) { return k == RaceKind::Read || k == RaceKind::AtomicRead; };
  if (isRead(earlierKind) || (!isRead(kind) && pair.second.program() < pair.first.program())) {
    std::swap(pair.first, pair.second);
    std::swap(pair.firstKind, pair.secondKind);
  }
  pair.sameValue = sameValue;
  pair.begin = begin;
  pair.end = end;
  auto [at, isNew] = races_.try_emplace({pair.first.site(), pair.firstKind, pair.second.site(), pair.secondKind}, pair);
  if (isNew) return;
  RacePair& known = at->second;
  const bool same = known.sameValue && sameValue;
  auto order = [](const RacePair& p) {
    return std::pair(std::max(p.first.program(), p.second.program()), std::min(p.first.program(), p.second.program()));
  };
  if (order(pair) < order(known)) known = pair;
  known.sameValue = same;
}

void RaceOrder::access(Map::Region& region, uintptr_t lo, uintptr_t hi, RaceKind kind, RaceStamp by) {
  const uint64_t program = by.program();
  const uint32_t now = current(program), site = by.site();
  auto apply = [&](Map::Block&, Cell& cell, uintptr_t begin, uintptr_t end) {
    auto check = [&](const Access& earlier, RaceKind earlierKind, bool sameValue = false) {
      if (isBefore(earlier.segment, now)) return;
      report(earlier, earlierKind, by, kind, sameValue, begin, end);
    };
    auto checkAll = [&](uint32_t list, RaceKind earlierKind) {
      if (!list) return;
      for (size_t i = 0; i < lists_[list].size(); ++i) check(lists_[list][i], earlierKind);
    };
    bool sameValue = false;
    if (kind == RaceKind::Write) {
      uint64_t hash = 0x9E3779B97F4A7C15;
      for (uintptr_t at = begin; at < end; ++at) hash = (hash ^ *reinterpret_cast<const uint8_t*>(at)) * 0x100000001B3;
      const uint32_t bits = uint32_t(hash >> 32) | 2;
      sameValue = cell.hash == bits;
      cell.hash = cell.hash == 0 || sameValue ? bits : 1;
    }
    if (cell.writer) check({cell.writer, cell.writerSite}, RaceKind::Write, sameValue);
    switch (kind) {
    case RaceKind::Read:
      checkAll(cell.atomicWrites, RaceKind::AtomicWrite);
      note(cell.reads, now, site);
      break;
    case RaceKind::AtomicRead: note(cell.atomicReads, now, site); break;
    case RaceKind::AtomicWrite:
      checkAll(cell.reads, RaceKind::Read);
      note(cell.atomicWrites, now, site);
      break;
    case RaceKind::Write:
      checkAll(cell.reads, RaceKind::Read);
      checkAll(cell.atomicReads, RaceKind::AtomicRead);
      checkAll(cell.atomicWrites, RaceKind::AtomicWrite);
      // Whoever comes after this write comes after them.
      for (uint32_t list : {cell.reads, cell.atomicReads, cell.atomicWrites})
        if (list) lists_[list].clear();
      cell.writer = now;
      cell.writerSite = site;
      cell.release = 0;
      break;
    }
  };
  map_.update(region, lo, hi, unsettled, apply, [&](const Cell& cell) { return split(cell); });
}

// ---- synchronisation ----

void RaceOrder::acquire(Map::Region& region, uintptr_t lo, uintptr_t hi) {
  map_.update(
      region, lo, hi, unsettled,
      [&](Map::Block&, Cell& cell, uintptr_t, uintptr_t) {
        if (cell.release && (found_.empty() || found_.back() != cell.release)) found_.push_back(cell.release);
      },
      [&](const Cell& cell) { return split(cell); });
}

void RaceOrder::acquired(uint64_t program) {
  if (found_.empty()) return;
  std::sort(found_.begin(), found_.end());
  found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
  const uint32_t before = current(program);
  const uint32_t segment = newSegment(program, before, found_.front());
  if (found_.size() > 1) {
    more_.emplace_back(found_.begin() + 1, found_.end());
    segments_[segment].more = uint32_t(more_.size());
  }
  current_[program] = segment;
  found_.clear();
}

void RaceOrder::release(Map::Region& region, uintptr_t lo, uintptr_t hi, RaceSync sync, uint64_t program) {
  const uint32_t now = current(program);
  map_.update(
      region, lo, hi, unsettled,
      [&](Map::Block&, Cell& cell, uintptr_t, uintptr_t) {
        if (!sync.releases) {
          if (!sync.isRmw) cell.release = 0;
        } else if (!sync.isRmw || !cell.release || sync.acquires) {
          cell.release = now;
        } else {
          cell.release = newSegment(kJoin, now, cell.release);
        }
      },
      [&](const Cell& cell) { return split(cell); });
}

void RaceOrder::released(uint64_t program) {
  const uint32_t before = current(program);
  current_[program] = newSegment(program, before);
}

} // namespace tiletwin::interp
