// codegen/passes/Phases.h -- which phase of its barrier each wait is for, as a value.
#pragma once
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Gives every twg.barrier_wait its phase. A word has a bit for each barrier of an allocation, 0 where the kernel begins; a
/// wait turns its bit over. Loops and branches that have waits carry the word. Waits that have a phase keep it.
void derivePhases(tt::FuncOp kernel);

} // namespace tiletwin::codegen
