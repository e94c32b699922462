// interp/check/FreshMemory.cpp -- see FreshMemory.h.
#include "interp/check/FreshMemory.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::interp {

namespace {
// Every half of it is NaN as f16 and bf16, the whole as f32 and f64.
constexpr uint64_t kPattern = 0xFFF6FFB3'FFE5FF99;

uint8_t patternByte(uintptr_t address) { return uint8_t(kPattern >> (address % 8 * 8)); }
bool holdsPattern(uintptr_t address) {
  return *reinterpret_cast<const volatile uint8_t*>(address) == patternByte(address);
}

/// Bits [from, to) of a word, 0 <= from < to <= 64.
uint64_t bits(uintptr_t from, uintptr_t to) {
  return (to - from == 64 ? ~uint64_t(0) : (uint64_t(1) << (to - from)) - 1) << from;
}
} // namespace

FreshRegion::FreshRegion(uintptr_t begin, uintptr_t end, std::string maker, SourceLocation made)
    : begin_(begin), end_(end), maker_(std::move(maker)), made_(std::move(made)),
      written_(new std::atomic<uint64_t>[(end - begin + 63) / 64]()) {}

void FreshRegion::write(uintptr_t lo, uintptr_t hi) {
  lo = std::max(lo, begin_);
  hi = std::min(hi, end_);
  for (uintptr_t at = lo; at < hi;) {
    const uintptr_t offset = at - begin_, word = offset / 64, next = std::min(hi, begin_ + (word + 1) * 64);
    const uint64_t wanted = bits(offset % 64, offset % 64 + (next - at));
    if (wanted == ~uint64_t(0))
      written_[word].store(wanted, std::memory_order_relaxed);
    else if ((written_[word].load(std::memory_order_relaxed) & wanted) != wanted)
      written_[word].fetch_or(wanted, std::memory_order_relaxed);
    at = next;
  }
}

bool FreshRegion::isWritten(uintptr_t address) const {
  const uintptr_t offset = address - begin_;
  return written_[offset / 64].load(std::memory_order_relaxed) >> (offset % 64) & 1;
}

bool FreshRegion::isUnwritten(uintptr_t lo, uintptr_t hi) const {
  for (uintptr_t at = lo; at < hi; ++at)
    if (isWritten(at) || !holdsPattern(at)) return false;
  return true;
}

bool FreshRegion::isUnwrittenAround(uintptr_t address) const {
  const uintptr_t first = address / 8 * 8;
  return isUnwritten(std::max(first, begin_), std::min(first + 8, end_));
}

bool FreshRegion::wasUnwritten(uintptr_t lo, const void* old, int64_t bytes) const {
  for (int64_t i = 0; i < bytes; ++i)
    if (isWritten(lo + uintptr_t(i)) || static_cast<const uint8_t*>(old)[i] != patternByte(lo + uintptr_t(i)))
      return false;
  return true;
}

/// Calls visit(first byte of a word of bits, bits not set) for the words of [lo, hi) that have such; ends when it returns
/// true, and returns that.
template <class Visit> bool FreshRegion::anyOpen(uintptr_t lo, uintptr_t hi, Visit&& visit) const {
  for (uintptr_t at = lo; at < hi;) {
    const uintptr_t offset = at - begin_, word = offset / 64, next = std::min(hi, begin_ + (word + 1) * 64);
    const uint64_t wanted = bits(offset % 64, offset % 64 + (next - at));
    const uint64_t open = wanted & ~written_[word].load(std::memory_order_relaxed);
    if (open && visit(begin_ + word * 64, open)) return true;
    at = next;
  }
  return false;
}

bool FreshRegion::isOpen(uintptr_t lo, uintptr_t hi) const {
  return anyOpen(lo, hi, [](uintptr_t, uint64_t) { return true; });
}

bool FreshRegion::maybeUnwritten(uintptr_t lo, uintptr_t hi) const {
  return anyOpen(lo, hi, [&](uintptr_t first, uint64_t open) {
    if (open != ~uint64_t(0) || first % 8) {
      for (; open; open &= open - 1)
        if (holdsPattern(first + uintptr_t(__builtin_ctzll(open)))) return true;
      return false;
    }
    // What counts as unwritten later holds a half of the pattern, at a multiple of 2, wherever it begins.
    constexpr uint64_t kOnes = 0x0001000100010001;
    for (uintptr_t at = first; at < first + 64; at += 8) {
      uint64_t word;
      std::memcpy(&word, reinterpret_cast<const void*>(at), 8);
      word ^= kPattern;
      if ((word - kOnes) & ~word & (kOnes << 15)) return true;
    }
    written_[(first - begin_) / 64].store(~uint64_t(0), std::memory_order_relaxed); // by somebody else: once for all
    return false;
  });
}

FreshMemory& FreshMemory::instance() {
  static FreshMemory* memory = new FreshMemory; // never destroyed: threads may outlive static destructors
  return *memory;
}

void FreshMemory::add(uintptr_t begin, uintptr_t end, std::string maker, SourceLocation made) {
  if (begin >= end) return;
  for (uintptr_t at = begin; at < end;) {
    if (at % 8 == 0 && end - at >= 8) {
      std::memcpy(reinterpret_cast<void*>(at), &kPattern, 8);
      at += 8;
    } else {
      *reinterpret_cast<uint8_t*>(at) = patternByte(at);
      ++at;
    }
  }
  auto region = std::make_shared<FreshRegion>(begin, end, std::move(maker), std::move(made));
  std::lock_guard lock(mutex_);
  std::erase_if(regions_, [&](const auto& r) { return r->begin() < end && begin < r->end(); });
  auto at = std::find_if(regions_.begin(), regions_.end(), [&](const auto& r) { return r->begin() > begin; });
  regions_.insert(at, std::move(region));
  count_.store(regions_.size(), std::memory_order_relaxed);
}

void FreshMemory::remove(uintptr_t begin) {
  std::lock_guard lock(mutex_);
  std::erase_if(regions_, [&](const auto& r) { return r->begin() == begin; });
  count_.store(regions_.size(), std::memory_order_relaxed);
}

std::vector<std::shared_ptr<FreshRegion>> FreshMemory::overlapping(uintptr_t lo, uintptr_t hi) const {
  std::vector<std::shared_ptr<FreshRegion>> found;
  std::lock_guard lock(mutex_);
  for (const auto& r : regions_)
    if (r->begin() < hi && lo < r->end()) found.push_back(r);
  return found;
}

} // namespace tiletwin::interp
