// sim/debugger/Writes.h -- the recording of who has written memory, which is asked backwards: "who wrote this byte".
// Idea:      one record for each instruction of a warp. Lanes nearly always write at a constant distance; only where they do not,
//            each lane's address is kept.
// Invariant: at most kMostRecords; the oldest ones go first, and it is known that they went.
#pragma once
#include "sim/machine/Warp.h"
#include <array>
#include <deque>
#include <memory>

namespace tiletwin::sim::debugger {

struct WriteRecord {
  uint64_t first = 0, stride = 0;                            ///< address of lane i: first + i * stride
  std::shared_ptr<const std::array<uint64_t, kLanes>> apart; ///< ... or these
  uint64_t bytes = 0;                                        ///< of a lane
  uint64_t time = 0;                                         ///< instructions of the launch before it
  uint64_t cta = 0;                                          ///< of the writer, by number
  uint64_t owner = kGlobal;                                  ///< the CTA whose shared memory it is
  LaneMask lanes = 0;
  uint32_t warp = 0;
  const FunctionCode* code = nullptr;
  const Inst* at = nullptr;
  static constexpr uint64_t kGlobal = ~uint64_t(0);

  uint64_t address(int lane) const { return apart ? (*apart)[size_t(lane)] : first + uint64_t(lane) * stride; }
};

class Writes {
public:
  /// addresses: of global memory, or offsets in the owner's shared memory; of the lanes of `record`, which lacks them.
  void add(WriteRecord record, const uint64_t* addresses);
  /// The last record before record number `before` that wrote the byte, and the lane; -1: none is known.
  struct Found {
    int64_t record = -1;
    int lane = 0;
  };
  Found last(uint64_t owner, uint64_t address, int64_t before) const;
  const WriteRecord& operator[](int64_t number) const { return records_[size_t(number - forgotten_)]; }
  int64_t end() const { return forgotten_ + int64_t(records_.size()); }
  bool hasForgotten() const { return forgotten_ != 0; }

private:
  static constexpr size_t kMostRecords = size_t(1) << 21;
  std::deque<WriteRecord> records_;
  int64_t forgotten_ = 0;
};

} // namespace tiletwin::sim::debugger
