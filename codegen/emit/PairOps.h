// codegen/emit/PairOps.h -- what the two CTAs of a pair tell each other.
// Here:      the meeting of all their threads. Not here: which kernels run in pairs (passes/Pairs.h).
// Source:    PTX ISA, 9.7.13 (barrier.cluster, mbarrier), 9.7.9 (mapa).
#pragma once
#include "codegen/emit/Emitter.h"

namespace tiletwin::codegen {

constexpr const char* kBothCtas = "3"; ///< a bit for each CTA of a pair

/// Each thread waits for those of both CTAs that still run, and then sees the barriers that the other CTA has made.
void meetPair(Emitter& e);
/// The same, and each sees what the other one has written, to its shared memory too.
void meetWithMemory(Emitter& e);

} // namespace tiletwin::codegen
