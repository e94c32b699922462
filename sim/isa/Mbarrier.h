// sim/isa/Mbarrier.h -- the mbarrier instructions.
// Here:      MbarrierForm, the Inst::data of all but pending_count.
// Not here:  decoding and running them (Mbarrier.cpp), what a wait that never ends misses (MbarrierWait.cpp),
//            the object's bits (MbarrierState.h), copies that signal one (Async.h).
#pragma once
#include "sim/isa/AddressOperand.h"
#include "sim/isa/MbarrierState.h"
#include <span>

namespace tiletwin::sim {

/// What the text of one comes to.
struct MbarrierForm {
  AddressOperand address;
  Access access;
  Slot count;               ///< arrivals or bytes, 4 bytes a lane; none: 1 arrival
  bool arrives = false;     ///< expect_tx: of mbarrier.arrive.expect_tx
  bool drops = false;       ///< arrive_drop
  bool noComplete = false;  ///< the phase must not end
  bool anyCta = false;      ///< .shared::cluster, or a generic address: may lie in another CTA
  bool waitsInLoop = false; ///< try_wait that is only tried again
};

inline const MbarrierForm& formOf(const Inst& in) { return *static_cast<const MbarrierForm*>(in.data); }
/// Is this test_wait or try_wait?
bool isMbarrierWait(const Inst& in);

/// Raises the trap for an outcome that is a mistake, of a lane at an mbarrier in shared memory of `owner`. Returns false.
bool trapMbarrier(Warp& warp, int lane, Cta* owner, const std::byte* at, MbarrierState::Outcome outcome,
                  MbarrierState state, int64_t count);

} // namespace tiletwin::sim
