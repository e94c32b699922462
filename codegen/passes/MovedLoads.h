// codegen/passes/MovedLoads.h -- loads that begin earlier than they stand in the program.
//
// Here:      whether a load can begin at another place of its block, with what its addresses are computed from; loads behind
//            a loop that begin in front of it.
// Not here:  loads for later iterations (LoadsAhead.h, Ring.h), copies to shared memory (CopiesAtOnce.h).
//
// Idea: what a kernel adds to a product, a bias or a residual, it loads behind the product's loop, and waits for it. Of a CTA
//       that has a multiprocessor of its own no other one works meanwhile. Its threads have registers enough to begin such
//       loads in front of the loop.
// Invariant: nothing passes an operation that may write what is read, that may tell this program what others wrote, or that tells the
//       user something: an assertion may be about the load.
#pragma once
#include "codegen/Codegen.h"
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Registers of 32 bits of a thread that hold what a load of a tile brings.
unsigned wordsOf(tt::LoadOp load);

/// True if the load may not begin in front of the operations from `first` to `last`, which is not looked at: one of them may
/// write what it reads, lets this program see what others have written there, or tells the user something before it.
bool mayNotPass(tt::LoadOp load, mlir::Operation* first, mlir::Operation* last);

/// True if what the load's addresses are computed from can be computed in front of `place`, an operation of its block.
bool canComputeAt(tt::LoadOp load, mlir::Operation* place);
/// Moves the load in front of `place`, with what its addresses are computed from; false if that cannot be computed there.
bool moveUp(tt::LoadOp load, mlir::Operation* place);

/// Of CTAs that have multiprocessors of their own (Options::isAlone), as many as registers have room for. Not where a
/// producer shares the registers.
void loadInFrontOfLoops(tt::FuncOp kernel, const Target& target, const Options& options);

} // namespace tiletwin::codegen
