// codegen/passes/Divide.h -- a program that two CTAs run together: each has half of the rows, and their tensor cores multiply as one.
//
// Here:      which kernels are divided, what each CTA computes of them.
// Not here:  which operations give half of a tile (HalfTiles.h), the products (TensorSums.h, emit/DotTcgen05.cpp), the launch of two
//            CTAs for each program (launch/sim_launch.py, python/src/GpuLaunch.cpp).
//
// Idea: a CTA computes what its stores need: half of the rows of a product, and of all that is computed from it row by row. Of
//       the second matrix it has half of the columns in its memory, since tcgen05.mma reads those of both CTAs. What does not
//       depend on a product is computed by both CTAs, and stored by the first one.
// When:  the launch asks for it (num_ctas=2), on GPUs with tcgen05. The instruction's CTAs are fixed for all of a kernel, so a
//       product whose shape does not fit is computed without tensor memory.
// Invariant: both CTAs take the same ways: a scalar never depends on half of a tile. So they meet at each product.
#pragma once
#include "codegen/Codegen.h"
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Behind the rewriting of dots' precisions. Nothing without Options::copiedLoads and a num_ctas above 1. Warns of a num_ctas that
/// changes nothing, with the reason.
void dividePrograms(tt::FuncOp kernel, const Target& target, const Options& options);

/// Whether two CTAs run each program of the kernel.
bool isDivided(tt::FuncOp kernel);
/// Whether a product is one that both CTAs multiply together.
bool isByTwoCtas(mlir::Operation* dot);

} // namespace tiletwin::codegen
