// codegen/passes/Pipeline.h -- loads that feed dots in loops are made iterations ahead, by copies into several buffers.
#pragma once
#include "codegen/Codegen.h"
#include "codegen/dialect/TWG.h"
#include "ir/TT.h"

namespace tiletwin::codegen {

/// True if a load can be a copy to such memory, if nobody else uses it: a copy gives zero where the mask is false, and the
/// load gives zero or anything.
bool canBeCopied(tt::LoadOp load, twg::MemDescType memory);

/// In every loop (tt.num_stages of the loop, else of the options, at least 2) on targets that copy asynchronously.
void pipelineLoops(tt::FuncOp kernel, const Target& target, const Options& options);

} // namespace tiletwin::codegen
