#include "sim/debugger/Writes.h"

namespace tiletwin::sim::debugger {

void Writes::add(WriteRecord record, const uint64_t* addresses) {
  const int first = __builtin_ctz(record.lanes);
  const LaneMask others = record.lanes & (record.lanes - 1);
  if (others) {
    const int second = __builtin_ctz(others);
    record.stride = (addresses[second] - addresses[first]) / uint64_t(second - first);
  }
  record.first = addresses[first] - uint64_t(first) * record.stride;
  bool isRegular = true;
  eachLane(record.lanes, [&](int lane) { isRegular &= record.address(lane) == addresses[lane]; });
  if (!isRegular) {
    auto apart = std::make_shared<std::array<uint64_t, kLanes>>();
    eachLane(record.lanes, [&](int lane) { (*apart)[size_t(lane)] = addresses[lane]; });
    record.apart = std::move(apart);
  }
  if (records_.size() == kMostRecords) {
    records_.pop_front();
    ++forgotten_;
  }
  records_.push_back(std::move(record));
}

Writes::Found Writes::last(uint64_t owner, uint64_t address, int64_t before) const {
  for (int64_t number = std::min(before, end()); number-- > forgotten_;) {
    const WriteRecord& record = (*this)[number];
    if (record.owner != owner) continue;
    for (int lane = kLanes; lane-- > 0;) // of lanes that write to one place the last one stays
      if (record.lanes >> lane & 1 && address - record.address(lane) < record.bytes) return {number, lane};
  }
  return {};
}

} // namespace tiletwin::sim::debugger
