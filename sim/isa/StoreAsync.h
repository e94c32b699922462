// sim/isa/StoreAsync.h -- st.async and red.async: registers to shared memory of the cluster, where an mbarrier hears of them.
// Not here:  st and red that are done at once (LoadStore.cpp, Atomic.cpp), when a store lands (Async.h).
#pragma once
#include "sim/isa/Decode.h"

namespace tiletwin::sim {

/// The word `async` has been taken.
bool decodeStoreAsync(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out);
bool decodeReduceAsync(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out);

} // namespace tiletwin::sim
