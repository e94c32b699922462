// sim/isa/MbarrierForm.h -- what the text of an mbarrier instruction comes to: Inst::data of all but pending_count.
// Not here:  decoding and running them (Mbarrier.cpp), what a wait that never ends misses (MbarrierWait.cpp).
#pragma once
#include "sim/isa/AddressOperand.h"

namespace tiletwin::sim {

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

} // namespace tiletwin::sim
