// sim/isa/BulkTargets.h -- where a bulk copy into shared memory goes: one CTA or, as a multicast, several; and whom it signals.
// Not here:  what is copied (Bulk.cpp, Tma.cpp).
#pragma once
#include "sim/isa/AddressOperand.h"
#include "sim/isa/Async.h"
#include <string_view>

namespace tiletwin::sim {

struct BulkTargets {
  AddressOperand barrier;
  Slot ctaMask; ///< 2 bytes a lane; none: no multicast

  /// `space`: of the mbarrier's address; None: a generic one.
  bool decode(Decoder& decoder, const ptx::Operand& barrierOperand, const ptx::Operand* maskOperand,
              Space space = Space::Shared);
  /// Queues a copy for each CTA that gets it, each at the same offset of its shared memory as copy.to and the mbarrier have in
  /// theirs; each mbarrier hears of `signalled` bytes. False: a trap.
  bool issue(Warp& warp, int lane, BulkCopy copy, uint64_t signalled) const;
};

bool hasWord(const ptx::Instruction& in, std::string_view word);
/// Of the spaces among a copy's modifiers the first is the destination's.
bool isDestinationGlobal(const ptx::Instruction& in);

} // namespace tiletwin::sim
