// codegen/passes/Pipeline.h -- loads that feed dots in loops are made iterations ahead, by copies into several buffers.
#pragma once
#include "codegen/Codegen.h"
#include "ir/TT.h"

namespace tiletwin::codegen {

/// In every loop (tt.num_stages of the loop, else of the options, at least 2) on targets that copy asynchronously.
void pipelineLoops(tt::FuncOp kernel, const Target& target, const Options& options);

} // namespace tiletwin::codegen
