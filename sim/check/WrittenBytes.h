// sim/check/WrittenBytes.h -- which bytes of some memory have been written: one bit for each.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace tiletwin::sim {

/// Calls visit(word, mask) for each word that holds bits from `at` to `end`.
template <class Words, class Visit> void eachWord(Words& words, uint64_t at, uint64_t end, Visit&& visit) {
  constexpr uint64_t kBits = 64;
  while (at < end) {
    const uint64_t first = at % kBits, count = std::min(end - at, kBits - first);
    const uint64_t mask = (count == kBits ? ~uint64_t(0) : (uint64_t(1) << count) - 1) << first;
    visit(words[at / kBits], mask);
    at += count;
  }
}

class WrittenBytes {
public:
  WrittenBytes() = default;
  explicit WrittenBytes(uint64_t bytes) : words_((bytes + kBits - 1) / kBits) {}

  void set(uint64_t at, uint64_t bytes) {
    eachWord(words_, at, end(at, bytes), [](uint64_t& word, uint64_t mask) { word |= mask; });
  }
  void clear(uint64_t at, uint64_t bytes) {
    eachWord(words_, at, end(at, bytes), [](uint64_t& word, uint64_t mask) { word &= ~mask; });
  }
  /// Have all of these bytes been written?
  bool all(uint64_t at, uint64_t bytes) {
    bool all = true;
    eachWord(words_, at, end(at, bytes), [&](uint64_t word, uint64_t mask) { all &= (word & mask) == mask; });
    return all;
  }
  /// The first of them that has not; there is one.
  uint64_t firstUnset(uint64_t at) const {
    while (words_[at / kBits] >> at % kBits & 1) ++at;
    return at;
  }
  uint64_t bytes() const { return words_.size() * kBits; }

private:
  static constexpr uint64_t kBits = 64;
  /// Bytes behind the memory's end are left out.
  uint64_t end(uint64_t at, uint64_t bytes) const { return std::min(at + bytes, this->bytes()); }
  std::vector<uint64_t> words_;
};

} // namespace tiletwin::sim
