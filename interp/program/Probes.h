// interp/program/Probes.h -- operands of probes of lanes.
// Not here:  probes of accesses to memory; merging of findings (runtime/Findings.h).
// Invariant: a probe changes nothing that the program sees. What it found counts when the program has ended, or trapped: a
//            program that starts again on the fallback plan finds everything anew.
#pragma once
#include "interp/program/Instructions.h"
#include "runtime/Findings.h"
#include <array>

namespace tiletwin::interp {

struct LaneProbeOp {
  std::vector<Finding> forms;         ///< [0]: for lanes without an origin
  std::array<uint16_t, 256> formOf{}; ///< by the lane's value: index into forms
  std::vector<int64_t> shape;         ///< of the tile; empty for scalars
  int64_t elements = 1;               ///< bytes to look at; 1 for a splat
  Off bad;                            ///< dense bytes, or a cell
};

Exec execLaneProbe; // data: LaneProbeOp

} // namespace tiletwin::interp
