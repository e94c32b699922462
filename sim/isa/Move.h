// sim/isa/Move.h -- what moves bits without changing them: mov, cvta, ld, st and what goes with them.
// Not here:  atomics (Atomic.h), asynchronous copies (Async.h), conversions (Convert.h).
#pragma once
#include "sim/isa/Decode.h"

namespace tiletwin::sim {

extern const std::span<const OpcodeRow>
    kMoveOpcodes; ///< Move.cpp: mov cvta isspacep trap brkpt alloca stacksave stackrestore
extern const std::span<const OpcodeRow>
    kMemoryOpcodes; ///< LoadStore.cpp: ld ldu st prefetch discard applypriority createpolicy

} // namespace tiletwin::sim
