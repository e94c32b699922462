// sim/isa/WgmmaDecode.h -- what the text of wgmma instructions (WgmmaDecode.cpp) comes to (Wgmma.cpp).
#pragma once
#include "sim/machine/Instruction.h"

namespace tiletwin::sim {

Step runWgmmaCommit(const Inst& in, Warp& warp, LaneMask active);
Step runWgmmaWait(const Inst& in, Warp& warp, LaneMask active); ///< immediate: groups that may remain
Step runWgmmaFence(const Inst& in, Warp& warp, LaneMask active);

} // namespace tiletwin::sim
