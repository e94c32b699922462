// sim/check/ProductCheck.h -- registers of wgmma that are used while a product is on its way, or without a wgmma.fence.
// Here:      what wgmma (isa/Wgmma.cpp) asks when products are queued and when other instructions use registers that wgmma names.
// Not here:  shared memory that products read (AsyncCheck.h).
// Source:    "PTX ISA", NVIDIA, sections "wgmma.mma_async", "wgmma.fence", "wgmma.wait_group".
#pragma once
#include "sim/isa/Wgmma.h"

namespace tiletwin::sim {

/// A product is about to be queued by the running instruction.
void checkProduct(Warp& warp, const Inst& in, const WgmmaPlan& plan);
/// Another instruction is about to use registers that wgmma names.
void checkRegisterUses(Warp& warp, const ProductRegisterUses& uses, LaneMask lanes);

} // namespace tiletwin::sim
