// sim/machine/TrapText.h -- from an instruction that failed to a Trap: where it stands in the PTX and in the kernel's source.
#pragma once
#include "sim/machine/Cta.h"

namespace tiletwin::sim {

/// Completes a trap whose kind and message (the detail) are set, notes it in the grid and stops the launch. Returns Step::Trap.
Step raise(Warp& warp, Trap trap, int lane = -1);

/// "(1, 2, 3)"
std::string tripleText(const std::array<uint32_t, 3>& d);
std::array<int32_t, 3> programOf(const Cta& cta);
/// "kernel.ptx:53:4"
std::string ptxPlace(const Program& program, const ptx::Instruction& in);
/// Where an instruction comes from: the line that .loc says, or the line of the PTX.
SourceLocation sourceOf(const Program& program, const ptx::Instruction& in);

/// The deadlock of a cluster, or one that has used its instructions up: every warp's position. `detail` begins the message.
void raiseDeadlock(Cluster& cluster, const std::string& detail);

} // namespace tiletwin::sim
