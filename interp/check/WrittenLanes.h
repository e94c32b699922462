// interp/check/WrittenLanes.h -- which lane of which store has written each byte, of one program since its last barrier.
// Here:      pages of bytes, found by address; forgetting all of them at once.
// Not here:  what reading them means (BarrierCheck.h).
// Invariant: memory stays below kMostPages pages. What is written beyond is not known, and isFull() says so.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace tiletwin::interp {

class WrittenLanes {
public:
  static constexpr uintptr_t kPageBytes = 256;
  static constexpr size_t kMostPages = 32768; ///< of 16 bytes for each byte: 128 MiB of a running program

  struct Byte {
    uint32_t epoch = 0; ///< 0: never
    uint32_t probe = 0; ///< number of the store's probe
    int64_t element = 0;
  };

  /// The program whose writes these are: others' are forgotten.
  void belongTo(const std::array<int32_t, 3>& program) {
    if (program == program_) return;
    program_ = program;
    if (isFull()) {
      pages_.clear();
      last_ = nullptr;
    }
    forget();
  }
  void forget() {
    if (++epoch_ == 0) {
      pages_.clear();
      last_ = nullptr;
      epoch_ = 1;
    }
    lo_ = UINTPTR_MAX;
    hi_ = 0;
  }
  void write(uintptr_t address, int64_t bytes, uint32_t probe, int64_t element) {
    lo_ = address < lo_ ? address : lo_;
    hi_ = address + uintptr_t(bytes) > hi_ ? address + uintptr_t(bytes) : hi_;
    for (int64_t i = 0; i < bytes; ++i)
      if (Page* page = pageAt((address + uintptr_t(i)) / kPageBytes, !isFull()))
        (*page)[(address + uintptr_t(i)) % kPageBytes] = {epoch_, probe, element};
  }
  bool isFull() const { return pages_.size() >= kMostPages; }
  /// Whether a byte of [lo, hi) may have been written.
  bool mayHold(uintptr_t lo, uintptr_t hi) const { return lo < hi_ && lo_ < hi; }
  /// Null: nobody has.
  const Byte* find(uintptr_t address) {
    Page* page = pageAt(address / kPageBytes, false);
    const Byte* byte = page ? &(*page)[address % kPageBytes] : nullptr;
    return byte && byte->epoch == epoch_ ? byte : nullptr;
  }

private:
  using Page = std::array<Byte, kPageBytes>;

  Page* pageAt(uintptr_t number, bool make) {
    if (last_ && number == lastNumber_) return last_;
    auto at = pages_.find(number);
    if (at == pages_.end()) {
      if (!make) return nullptr;
      at = pages_.emplace(number, std::make_unique<Page>()).first;
    }
    lastNumber_ = number;
    return last_ = at->second.get();
  }

  std::array<int32_t, 3> program_{-1, -1, -1};
  uint32_t epoch_ = 1;
  uintptr_t lo_ = UINTPTR_MAX, hi_ = 0; ///< all that was written lies in [lo_, hi_)
  std::unordered_map<uintptr_t, std::unique_ptr<Page>> pages_;
  Page* last_ = nullptr;
  uintptr_t lastNumber_ = 0;
};

} // namespace tiletwin::interp
