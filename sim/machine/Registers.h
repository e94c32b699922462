// sim/machine/Registers.h -- which registers of a function may share their place.
//
// Here:      liveness over the flow graph, and a place for every register.
// Not here:  where places lie in a call's block of memory (DecodeFunction.cpp).
// Idea:      an instruction changes the lanes of its own threads only, so that what holds for the ways of one thread holds for
//            each lane: two registers that are never alive together may lie in one place. Linear scan: a register occupies its
//            place from the first to the last instruction that it is alive at.
// Invariant: a register that may be read before it is written has a place of its own, so that the read can be seen; so has one
//            that an instruction writes later on (the accumulators of wgmma).
#pragma once
#include "sim/machine/FlowGraph.h"
#include <cstdint>
#include <vector>

namespace tiletwin::sim {

/// Registers of one instruction, as numbers. What it keeps is some of what it writes: lanes may keep what they have, because the
/// write is guarded or comes later, so that the register is alive in front of it; nothing looks at the value there.
struct RegisterUses {
  std::vector<int32_t> reads, writes, keeps;
};

struct RegisterPlaces {
  std::vector<int32_t> place;     ///< of each register; -1: never used
  std::vector<uint8_t> placeSize; ///< of each place, bytes a lane; 0: a predicate
  std::vector<bool> unwritten;    ///< registers that may be read before they are written
};

/// `size`: bytes a lane of each register, 0 for predicates. `alone`: registers that share their place with none.
RegisterPlaces placeRegisters(const FlowGraph& graph, const std::vector<RegisterUses>& uses,
                              const std::vector<uint8_t>& size, const std::vector<bool>& alone);

} // namespace tiletwin::sim
