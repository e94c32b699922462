// codegen/passes/TileLoop.h -- a kernel whose CTAs run one program after the other, while the next one's blocks are copied.
//
// Here:      which kernels have such a loop, the loop, the sizes of the grid as arguments.
// Not here:  who copies ahead into the next program (Producer.h), loads that are copies (AffineLoads.h), the launch, which
//            starts as many CTAs as the GPU has room for (launch/copied_loads.py, python/src/CopiedLoads.h).
//
// Idea: while a program stores its results, and until the next one's first blocks have arrived, the tensor cores of a
//       multiprocessor that holds one CTA have nothing to do. A CTA that goes on to the next program itself has warps that
//       copy its blocks meanwhile. Programs are taken in the order in which the hardware starts them.
// When: programs do not depend on each other. All of them take about as long, also those that load what others copy, since
//       who runs which is settled before the first one begins. And one CTA alone fills a multiprocessor: its sums and
//       products leave no registers for another one, which would work meanwhile.
// Invariant: a program stores nothing in front of what is copied for it. So copies for the next program may pass the stores
//       of this one: no program may read what another one writes, in whatever order they run.
#pragma once
#include "codegen/Codegen.h"
#include "ir/TT.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tiletwin::codegen {

/// Behind makeAffineLoads. Nothing without Options::copiedLoads and Options::tileLoops. The kernel gets three arguments
/// more at its end, which are i32: the sizes of the grid as the launch asks for it, of at most 2^30 programs. It is then
/// launched with any number of CTAs along the first dimension.
void makeTileLoop(tt::FuncOp kernel, const Target& target, const Options& options);

/// True for the loop over programs that makeTileLoop made.
bool isTileLoop(mlir::scf::ForOp loop);
void markTileLoop(mlir::scf::ForOp loop);
bool hasTileLoop(tt::FuncOp kernel);

} // namespace tiletwin::codegen
