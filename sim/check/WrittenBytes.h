// sim/check/WrittenBytes.h -- which bytes of some memory have been written: one bit for each.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace tiletwin::sim {

class WrittenBytes {
public:
  WrittenBytes() = default;
  explicit WrittenBytes(uint64_t bytes) : words_((bytes + kBits - 1) / kBits) {}

  void set(uint64_t at, uint64_t bytes) {
    eachWord(at, bytes, [](uint64_t& word, uint64_t mask) {
      word |= mask;
      return true;
    });
  }
  void clear(uint64_t at, uint64_t bytes) {
    eachWord(at, bytes, [](uint64_t& word, uint64_t mask) {
      word &= ~mask;
      return true;
    });
  }
  /// Have all of these bytes been written?
  bool all(uint64_t at, uint64_t bytes) {
    return eachWord(at, bytes, [](uint64_t word, uint64_t mask) { return (word & mask) == mask; });
  }
  /// The first of them that has not; there is one.
  uint64_t firstUnset(uint64_t at) const {
    while (words_[at / kBits] >> at % kBits & 1) ++at;
    return at;
  }
  uint64_t bytes() const { return words_.size() * kBits; }

private:
  static constexpr uint64_t kBits = 64;
  /// Calls visit(word, mask) until it returns false; bytes behind the end are left out.
  template <class Visit> bool eachWord(uint64_t at, uint64_t bytes, Visit&& visit) {
    const uint64_t end = std::min(at + bytes, this->bytes());
    while (at < end) {
      const uint64_t first = at % kBits, count = std::min(end - at, kBits - first);
      const uint64_t mask = (count == kBits ? ~uint64_t(0) : (uint64_t(1) << count) - 1) << first;
      if (!visit(words_[at / kBits], mask)) return false;
      at += count;
    }
    return true;
  }
  std::vector<uint64_t> words_;
};

} // namespace tiletwin::sim
