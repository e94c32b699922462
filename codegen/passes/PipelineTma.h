// codegen/passes/PipelineTma.h -- blocks that a loop copies from tensors (TMA), begun some iterations ahead.
//
// Here:      loops whose copies are tensor copies. Not here: copies by threads (Pipeline.h), copies waited for at once
//            (TensorCopies.h), what of a loop is computed ahead (LoopSlice.h).
#pragma once
#include "codegen/Codegen.h"
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Gives the blocks that loops of several stages (`tt.num_stages`, else the kernel's) copy as many buffers, or more (slotsOf), and
/// begins the copies that many iterations ahead but one.
void pipelineTensorCopies(tt::FuncOp kernel, const Target& target, const Options& options);

} // namespace tiletwin::codegen
